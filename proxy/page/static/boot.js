/* Before the first paint: the theme and the language that were chosen. No module, so that nothing is drawn before it. */
try {
  const theme = localStorage.getItem("olvido.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const lang = localStorage.getItem("olvido.lang");
  if (lang) document.documentElement.lang = lang;
} catch {
  // storage may be forbidden: then the system's
}
