//! Programs that an MCP server may not be: code that is easily overlooked in a review.

use crate::section::Context;
use config_source::{Node, PathStep};

/// Environment variables that make a program load or run other code than `command` says.
pub(super) const LOADER_VARIABLES: [&str; 9] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_AUDIT",
    "DYLD_INSERT_LIBRARIES",
    "NODE_OPTIONS",
    "PYTHONSTARTUP",
    "PYTHONPATH",
    "BASH_ENV",
    "ENV",
];
/// Arguments that are followed by code.
const INLINE_CODE_ARGS: [&str; 6] = ["-c", "-e", "--eval", "-p", "--print", "-r"];
/// Programs that run such code.
const INTERPRETERS: [&str; 12] =
    ["sh", "bash", "zsh", "dash", "node", "deno", "bun", "python", "python3", "ruby", "perl", "php"];

/// Reports code in the arguments of an interpreter, which is easily overlooked in a review.
pub(super) fn refuse_inline(command: &str, args: &[String], node: &Node, context: &mut Context<'_, '_>) {
    let program = command.rsplit('/').next().unwrap_or(command);
    let inline = args.iter().position(|arg| INLINE_CODE_ARGS.contains(&arg.split('=').next().unwrap_or(arg)));
    if let Some(position) = inline.filter(|_| INTERPRETERS.contains(&program)) {
        let at = node.span_at(&[PathStep::Key("args"), PathStep::Index(position)]);
        let message = format!("`{}` hands `{program}` a program in its arguments, which is refused", args[position]);
        context.report.error(at, message, Some("put it into a separate file and name that file".to_owned()));
    }
}
