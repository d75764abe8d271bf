//! The picture of a run.

use super::StepState;
use crate::read::read_struct;
use serde::Serialize;

/// The picture of a run: where its steps stand and what connects them. All lengths are in pixels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
    /// The steps, in the order of the definition.
    pub nodes: Vec<PictureNode>,
    /// The lines between them.
    pub edges: Vec<PictureEdge>,
    /// The frames around loops.
    pub frames: Vec<PictureFrame>,
}

read_struct!(Picture { width: "width", height: "height", nodes: "nodes", edges: "edges", frames: "frames" });

/// A step in a picture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureNode {
    /// The id of the step.
    pub id: String,
    /// The type of the step.
    pub kind: String,
    /// A few words on the step, such as the name of the agent; may be empty.
    pub about: String,
    /// The state.
    pub state: StepState,
    /// How many of the step's runs have ended, and how many have started; absent if it is not in a
    /// loop.
    pub count: Option<String>,
    /// The path of the record to show; absent if there is none.
    pub path: Option<String>,
    /// How deep it is nested.
    pub depth: u32,
    /// The branch that begins with it, such as `then`; may be empty.
    pub branch: String,
    /// The left border.
    pub x: u32,
    /// The upper border.
    pub y: u32,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

read_struct!(PictureNode {
    id: "id",
    kind: "kind",
    about: "about" or default,
    state: "state",
    count: "count",
    path: "path",
    depth: "depth" or default,
    branch: "branch" or default,
    x: "x",
    y: "y",
    width: "width",
    height: "height",
});

/// A line between steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureEdge {
    /// The path of the line.
    pub line: String,
    /// Its label, such as `then`; may be empty.
    pub label: String,
    /// Where the label stands: the middle of its lower border.
    pub label_x: u32,
    /// See `label_x`.
    pub label_y: u32,
    /// Whether the run went along it.
    pub is_taken: bool,
    /// Whether it leads to the steps that handle an error.
    pub is_error: bool,
}

read_struct!(PictureEdge {
    line: "line",
    label: "label" or default,
    label_x: "labelX" or default,
    label_y: "labelY" or default,
    is_taken: "isTaken" or default,
    is_error: "isError" or default,
});

/// The frame around the steps of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PictureFrame {
    /// The left border.
    pub x: u32,
    /// The upper border.
    pub y: u32,
    /// The width.
    pub width: u32,
    /// The height.
    pub height: u32,
}

read_struct!(PictureFrame { x: "x", y: "y", width: "width", height: "height" });
