import type { SidebarData } from "./data.ts";
import type { Content, Source } from "./documents.ts";
import type { Action } from "./keys.ts";
import { IN_LISTS, type Scene, select } from "./press.ts";
import { write } from "./prompts.ts";
import {
  type ScreenSize,
  type SidebarState,
  type SidebarTarget,
  type Step,
  sameTarget,
  selectedTarget,
  withoutNotice,
} from "./state.ts";
import { hasCursor } from "./views/reader.ts";
import { withRead } from "./views/reader-frame.ts";
import { afterSearch, IN_READERS, writing } from "./views/reading.ts";

const USUAL: ScreenSize = { width: 34, height: 24 };

/**
 * Returns the next state and effect of a key.
 * @param seen the requests that the screen shows to their end, by id, and for how many milliseconds: only these can be approved
 */
export function press(
  state: SidebarState,
  action: Action,
  data: SidebarData,
  seen: ReadonlyMap<string, number> = new Map(),
  size: ScreenSize = USUAL,
): Step {
  // Before the notice is removed: it took rows of the screen.
  const read = withRead(state, data, size);
  return handled({ state: withoutNotice(read), data, seen, size }, action);
}

function handled(scene: Scene, action: Action): Step {
  const handler = (scene.state.reader === undefined ? IN_LISTS : IN_READERS)[action];
  return handler === undefined ? { state: scene.state } : handler(scene);
}

/** Returns the next state and effect of a key while the user writes a line. */
export function typed(
  state: SidebarState,
  key: { readonly name: string; readonly char: string | undefined },
  data: SidebarData,
  size: ScreenSize = USUAL,
): Step {
  const step = write(withoutNotice(state), key.name, key.char);
  const isSearched = state.prompt?.kind === "search" && step.state.prompt === undefined;
  return isSearched ? afterSearch({ state: step.state, data, seen: new Map(), size }) : step;
}

/** A click selects a row; a click on the selected row does what Enter does. */
export function click(
  state: SidebarState,
  target: SidebarTarget,
  data: SidebarData,
  size: ScreenSize = USUAL,
): Step {
  const scene: Scene = { state: withoutNotice(state), data, seen: new Map(), size };
  const { reader } = state;
  if (target.kind === "row") {
    if (reader === undefined || !hasCursor(reader)) return { state: scene.state };
    if (target.index === reader.cursor) return handled(scene, "go");
    return { state: { ...scene.state, reader: { ...reader, cursor: target.index } } };
  }
  if (reader !== undefined) return { state: scene.state };
  const now = selectedTarget(state, data);
  if (now !== undefined && sameTarget(now, target)) return handled(scene, "go");
  return { state: select(scene.state, target) };
}

/** Stores a loaded document in the state if it is still open. Messages open with the input line for a new one. */
export function withContent(state: SidebarState, source: Source, content: Content): SidebarState {
  const { reader } = state;
  if (reader?.source !== source) return state;
  const isFirst = reader.content === undefined;
  const shown = content.kind === "teams" ? content.teams.findIndex(({ isShown }) => isShown) : -1;
  const cursor = isFirst && shown >= 0 ? shown : reader.cursor;
  const next = { ...state, reader: { ...reader, content, cursor } };
  return isFirst && content.kind === "messages" ? writing(next) : next;
}
