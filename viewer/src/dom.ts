// Small helpers for making parts of the page.

type Child = Node | string | null | undefined | false;

/** An element with attributes (`on…` are listeners, `class` and the like as in HTML) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, unknown> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on") && typeof value === "function") {
      element.addEventListener(name.slice(2), value as EventListener);
    } else if (value === true) {
      element.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => !!child || child === ""));
  return element;
}

/** Offers a file for saving. */
export function save(name: string, content: Blob): void {
  const link = h("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A number with so many digits that count. */
export function digits(value: number, count = 5): string {
  if (!Number.isFinite(value)) {
    return Number.isNaN(value) ? "–" : String(value);
  }
  if (value === 0) {
    return "0";
  }
  const size = Math.abs(value);
  if (size < 1e-4 || size >= 1e6) {
    return value.toExponential(Math.max(0, count - 3)).replace("e+", "e");
  }
  return String(Number(value.toPrecision(count)));
}
