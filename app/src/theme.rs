//! The switch between the system's colours, light and dark.
