// Elements in one line: h("p", {class: "soft", onclick: f}, "text", child).
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) element.style.setProperty(name, value);
    else if (name === "width") element.style.width = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Clicks with a key or another button open a link in a new tab or window, as anywhere else.
export const isPlainClick = (event) => !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);

export const $ = (id) => document.getElementById(id);
