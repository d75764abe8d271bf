//! A scripted model and a recording tool.
