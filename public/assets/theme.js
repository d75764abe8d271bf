// Sets the theme that the user has chosen before the first paint, so that the page does not flash in the other one. See app/src/theme.rs.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is blocked: the system's theme is used.
}
