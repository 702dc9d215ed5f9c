/** Keys that tmux knows by name (tmux 3.2, key-string.c), without function keys. */
const NAMED =
  "Escape Enter Tab BTab Space BSpace Up Down Left Right Home End PageUp PPage PageDown NPage IC Insert DC Delete";
const KEY = new RegExp(`^(?:[CMS]-){0,3}(?:${NAMED.replaceAll(" ", "|")}|F(?:[1-9]|1[0-2])|[!-:<-~])$`);

/** Whether tmux knows a key of this name: `Escape`, `C-c`, `M-Enter`, `F5`, or a single ASCII character except `;`, which ends a tmux command. */
export function isKeyName(text: string): boolean {
  return KEY.test(text);
}
