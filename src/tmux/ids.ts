declare const brand: unique symbol;
type Brand<B extends string> = string & { readonly [brand]: B };

/** `%12`. A new server reuses ids, so an id identifies a pane only together with a tag and a pid. */
export type PaneId = Brand<"PaneId">;
/** `@3` */
export type WindowId = Brand<"WindowId">;
/** `$1` */
export type SessionId = Brand<"SessionId">;

/** Parses a pane's id; undefined for any other text, so that no ambiguous target (`name`, `-1`) reaches tmux. */
export function paneId(text: string | undefined): PaneId | undefined {
  return text !== undefined && /^%\d{1,9}$/.test(text) ? (text as PaneId) : undefined;
}

export function windowId(text: string | undefined): WindowId | undefined {
  return text !== undefined && /^@\d{1,9}$/.test(text) ? (text as WindowId) : undefined;
}

export function sessionId(text: string | undefined): SessionId | undefined {
  return text !== undefined && /^\$\d{1,9}$/.test(text) ? (text as SessionId) : undefined;
}
