// A course that its readers can darken, and that stays so.
const course = document.documentElement;
course.dataset.theme = localStorage.theme ?? "light";
addEventListener("DOMContentLoaded", () => {
  document.querySelector("#theme").onclick = () => {
    course.dataset.theme = localStorage.theme = course.dataset.theme === "dark" ? "light" : "dark";
  };
});
