//! The picture of a run: on a wide screen its steps as a graph, on a narrow one as a list.

use super::state_names::{step_state_name, symbol};
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::workflow::{Picture, PictureEdge, PictureFrame, PictureNode};

/// Renders a picture. A step that has started is a button, which selects it by its path.
pub(super) fn picture_view(picture: Picture, selected: RwSignal<Option<String>>) -> AnyView {
    let Picture { width, height, nodes, edges, frames } = picture;
    let (width, height) = (width.to_string(), height.to_string());
    let items: Vec<_> = nodes.iter().map(|node| list_item(node, selected)).collect();
    let steps: Vec<_> = nodes.iter().map(|node| graph_node(node, selected)).collect();
    let lines: Vec<_> = edges.into_iter().map(edge).collect();
    let frames: Vec<_> = frames.iter().map(frame).collect();
    view! {
        // Focusable, so that it can be scrolled by keyboard.
        <div class="cw-graph" role="group" aria-label=t(Text::RunSteps) tabindex="0">
            <svg width=width.clone() height=height.clone() viewBox=["0 0 ", &width, " ", &height].concat()>
                {frames}
                {lines}
                {steps}
            </svg>
        </div>
        <ol class="cw-graph-list" aria-label=t(Text::RunSteps)>{items}</ol>
    }
    .into_any()
}

fn frame(frame: &PictureFrame) -> AnyView {
    let PictureFrame { x, y, width, height } = *frame;
    let [x, y, width, height] = [x, y, width, height].map(|length| length.to_string());
    view! { <rect class="cw-graph-frame" x=x y=y width=width height=height rx="10" /> }.into_any()
}

fn edge(edge: PictureEdge) -> AnyView {
    let PictureEdge { line, label, label_x, label_y, is_taken, is_error } = edge;
    let label = (!label.is_empty()).then(|| {
        view! { <text class="cw-graph-label" x=label_x.to_string() y=label_y.to_string()>{label}</text> }
    });
    let taken = is_taken.then_some("");
    let error = is_error.then_some("");
    view! {
        <g class="cw-graph-edge" data-taken=taken data-error=error>
            <path d=line />
            {label}
        </g>
    }
    .into_any()
}

fn graph_node(node: &PictureNode, selected: RwSignal<Option<String>>) -> AnyView {
    let [x, y, width, height] = [node.x, node.y, node.width, node.height].map(|length| length.to_string());
    let step = step_view(node, selected);
    view! { <foreignObject x=x y=y width=width height=height>{step}</foreignObject> }.into_any()
}

fn list_item(node: &PictureNode, selected: RwSignal<Option<String>>) -> AnyView {
    let branch = (!node.branch.is_empty()).then(|| {
        let branch = node.branch.clone();
        view! { <span class="cw-graph-branch">{branch}</span> }
    });
    let step = step_view(node, selected);
    view! {
        <li data-depth=node.depth.min(4).to_string()>
            {branch}
            {step}
        </li>
    }
    .into_any()
}

fn step_view(node: &PictureNode, selected: RwSignal<Option<String>>) -> AnyView {
    let PictureNode { id, kind, about, state, count, path, .. } = node.clone();
    let state_name = state.name();
    let about = if about.is_empty() { kind } else { [&kind, " · ", &about].concat() };
    let count = count.map(|count| view! { <span class="cw-graph-count">{count}</span> });
    let content = view! {
        {symbol(state)}
        <span class="cw-graph-text">
            <span class="cw-graph-name">{id}</span>
            <span class="cw-graph-about">{about}</span>
        </span>
        {count}
        <span class="cw-visually-hidden">{step_state_name(state)}</span>
    };
    match path {
        Some(path) => {
            let own = path.clone();
            let is_selected = move || selected.with(|now| now.as_ref() == Some(&own)).to_string();
            view! {
                <button
                    type="button"
                    class="cw-graph-step"
                    data-state=state_name
                    aria-pressed=is_selected
                    on:click=move |_| selected.set(Some(path.clone()))
                >
                    {content}
                </button>
            }
            .into_any()
        }
        None => view! { <div class="cw-graph-step" data-state=state_name>{content}</div> }.into_any(),
    }
}
