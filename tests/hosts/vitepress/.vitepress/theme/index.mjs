import Theme from "vitepress/theme";
import "./course.css";

export default Theme;
