//! The steps of a workflow, as far as a picture shows them.

/// A step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutlineStep {
    /// The id, unique in the workflow.
    pub id: String,
    /// The type, such as `agent`.
    pub kind: String,
    /// A few words on the step, such as the name of the agent; may be empty. A picture shows the first 40 characters.
    pub about: String,
    /// The lists of steps in it, in the order of the definition.
    pub lists: Vec<OutlineList>,
    /// Whether the run ends with the step.
    pub end: Option<StepEnd>,
}

/// How a run ends with a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// With an output.
    Return,
    /// With an error.
    Fail,
}

/// A list of steps in a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineList {
    /// The label, such as `then`; may be empty.
    pub label: String,
    /// The steps. If there are none, the run goes on after the step that has the list.
    pub steps: Vec<OutlineStep>,
    /// The role of the list in the step.
    pub role: ListRole,
}

/// The role of a list of steps in the step that contains it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListRole {
    /// A branch. Branches stand side by side below the step.
    Branch,
    /// The steps of a loop, which stand in its frame. A step has at most one such list.
    Body,
    /// A branch that handles an error of the step.
    ErrorHandler,
}
