//! The picture and the timeline of a run, as the block `WorkflowRuns` shows them. Steps that have
//! started are links to their details on the same page.

use leptos::prelude::*;
use wire::workflow::{
    Picture, PictureEdge, PictureFrame, PictureNode, StepState, StepView, TimelineBar, timeline_bars,
};

/// Returns the id of the details of a step.
pub(super) fn step_anchor(path: &str) -> String {
    format!("step-{path}")
}

/// Returns the name of a state.
pub(super) fn state_name(state: StepState) -> &'static str {
    match state {
        StepState::Pending => "Not started",
        StepState::Skipped => "Not needed",
        StepState::Done => "Done",
        StepState::Running => "Running",
        StepState::Retrying => "Will be retried",
        StepState::Waiting => "Waiting",
        StepState::Failed => "Failed",
        StepState::Unknown => "Outcome unknown",
    }
}

fn symbol(state: StepState) -> AnyView {
    view! {
        <svg class="cw-icon cw-step-symbol" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
            <path d=state.symbol() />
        </svg>
    }
    .into_any()
}

/// Renders a state: its symbol and its name.
pub(super) fn state_view(state: StepState, name: &'static str) -> AnyView {
    view! { <span class="cw-run-state" data-state=state.name()>{symbol(state)}{name}</span> }.into_any()
}

/// Renders a picture: on a wide screen as a graph, on a narrow one as a list.
pub(super) fn picture_view(picture: &Picture) -> AnyView {
    let Picture { width, height, nodes, edges, frames } = picture;
    let (width, height) = (width.to_string(), height.to_string());
    view! {
        // Focusable, so that it can be scrolled by keyboard.
        <div class="cw-graph" role="group" aria-label="Steps of the run" tabindex="0">
            <svg width=width.clone() height=height.clone() viewBox=format!("0 0 {width} {height}")>
                {frames.iter().map(frame).collect_view()}
                {edges.iter().map(edge).collect_view()}
                {nodes.iter().map(graph_node).collect_view()}
            </svg>
        </div>
        <ol class="cw-graph-list" aria-label="Steps of the run">{nodes.iter().map(list_item).collect_view()}</ol>
    }
    .into_any()
}

fn frame(frame: &PictureFrame) -> AnyView {
    let PictureFrame { x, y, width, height } = *frame;
    let [x, y, width, height] = [x, y, width, height].map(|length| length.to_string());
    view! { <rect class="cw-graph-frame" x=x y=y width=width height=height rx="10" /> }.into_any()
}

fn edge(edge: &PictureEdge) -> AnyView {
    let PictureEdge { line, label, label_x, label_y, is_taken, is_error } = edge.clone();
    let label = (!label.is_empty()).then(|| {
        view! { <text class="cw-graph-label" x=label_x.to_string() y=label_y.to_string()>{label}</text> }
    });
    view! {
        <g class="cw-graph-edge" data-taken=is_taken.then_some("") data-error=is_error.then_some("")>
            <path d=line />
            {label}
        </g>
    }
    .into_any()
}

fn graph_node(node: &PictureNode) -> AnyView {
    let [x, y, width, height] = [node.x, node.y, node.width, node.height].map(|length| length.to_string());
    view! { <foreignObject x=x y=y width=width height=height>{step_view(node)}</foreignObject> }.into_any()
}

fn list_item(node: &PictureNode) -> AnyView {
    let branch = (!node.branch.is_empty()).then(|| {
        view! { <span class="cw-graph-branch">{node.branch.clone()}</span> }
    });
    view! { <li data-depth=node.depth.min(4).to_string()>{branch}{step_view(node)}</li> }.into_any()
}

fn step_view(node: &PictureNode) -> AnyView {
    let PictureNode { id, kind, about, state, count, path, .. } = node.clone();
    let about = if about.is_empty() { kind } else { format!("{kind} · {about}") };
    let content = view! {
        {symbol(state)}
        <span class="cw-graph-text">
            <span class="cw-graph-name">{id}</span>
            <span class="cw-graph-about">{about}</span>
        </span>
        {count.map(|count| view! { <span class="cw-graph-count">{count}</span> })}
        <span class="cw-visually-hidden">{state_name(state)}</span>
    };
    match path {
        Some(path) => {
            let href = format!("#{}", step_anchor(&path));
            view! { <a class="cw-graph-step" data-state=state.name() href=href>{content}</a> }.into_any()
        }
        None => view! { <div class="cw-graph-step" data-state=state.name()>{content}</div> }.into_any(),
    }
}

/// Renders the timeline of a run that was created at `begin`. Steps that have not ended last until
/// `now`.
pub(super) fn timeline_view(steps: &[StepView], begin: i64, now: i64) -> AnyView {
    let row = |(step, bar): (&StepView, TimelineBar)| {
        let TimelineBar { from, width } = bar;
        let lasted = step.ended_at.map(|ended| web::html::seconds((ended - step.started_at) as f64));
        view! {
            <li data-state=step.state.name()>
                <span class="cw-timeline-name">{symbol(step.state)}{step.path.clone()}</span>
                <svg viewBox="0 0 1000 10" preserveAspectRatio="none" aria-hidden="true" focusable="false">
                    <rect class="cw-timeline-row" x="0" y="0" width="1000" height="10" />
                    <rect class="cw-timeline-bar" x=from.to_string() y="0" width=width.to_string() height="10" />
                </svg>
                <span class="cw-timeline-time">{lasted}</span>
            </li>
        }
    };
    let rows = steps.iter().zip(timeline_bars(steps, begin, now)).map(row).collect_view();
    view! { <ol class="cw-timeline" aria-label="Timeline">{rows}</ol> }.into_any()
}
