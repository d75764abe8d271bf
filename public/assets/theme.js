// Runs before the first paint: a theme that the reader chose must not flash as the other one. See app/src/theme.rs.
try {
  const theme = localStorage.getItem("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is forbidden: the system's theme stands.
}
