import icons from "virtual:icons";
import { type FunctionalComponent, h } from "vue";

/** One of the icons in `icon-names.json`. Decorative: the words are beside it or in a label. */
const Icon: FunctionalComponent<{ name: string; size?: number }> = ({ name, size = 16 }) =>
  h("svg", {
    // Drawings of our own build, never text of a session.
    innerHTML: icons[name] ?? icons.wrench,
    viewBox: "0 0 24 24",
    width: size,
    height: size,
    class: "shrink-0",
    "aria-hidden": "true",
  });
Icon.props = ["name", "size"];
export default Icon;
