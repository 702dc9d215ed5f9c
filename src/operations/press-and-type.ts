import { dirname } from "node:path";
import { isInForeground } from "../adapter/keys/keyboard.ts";
import { commandNow } from "../adapter/keys/pane-command.ts";
import { draftOf } from "../adapter/native/draft.ts";
import type { InputRefusal } from "../adapter/native/input-pane.ts";
import { PRESS_REFUSALS, type PressRefusal, pressKeys } from "../adapter/native/press-keys.ts";
import { readPaneScreen, type TypingOutcome, typeMessage } from "../adapter/native/type-message.ts";
import { serverAt } from "../backend/tmux/server-for.ts";
import { TeamError } from "../errors.ts";
import { pause, steadyNow } from "../os/clock.ts";
import { ensureDir } from "../os/files/fs.ts";
import { defined } from "../schema/defined.ts";
import type { PlaceRecord } from "../schema/status.ts";
import { memberWord } from "../team/address-words.ts";
import { readTeam } from "../team/config/config.ts";
import { findMember } from "../team/members/members.ts";
import { shortenedStart } from "../text/characters/cut-text.ts";
import { operand } from "../text/shell-quote.ts";
import { isKeyName } from "../tmux/key-names.ts";
import type { TmuxServer } from "../tmux/server.ts";
import { type OperationContext, requireLead } from "./context.ts";
import { mayShowStartDialog, START_DIALOG } from "./processes/foreign-facts.ts";
import { inputOfMember, unprovenPaneError } from "./processes/place-of-member.ts";

/** Maximum number of keys in one call. */
const MAX_KEYS = 100;

/**
 * Presses keys in the pane of a member, as a person would there.
 * @throws TeamError INVALID_INPUT for an unknown key; RECIPIENT_INACTIVE without a tmux pane; PERMISSION_DENIED if the pane takes
 * no key now. Nothing was pressed.
 */
export async function pressInPane(
  ctx: OperationContext,
  memberName: string,
  keys: readonly string[],
): Promise<void> {
  requireLead(ctx, "press keys in a pane");
  const unknown = keys.find((key) => !isKeyName(key));
  if (unknown !== undefined) {
    throw new TeamError(
      "INVALID_INPUT",
      `${JSON.stringify(unknown)} is not the name of a key. Nothing was pressed.`,
      {
        hint: "Use key names of tmux, such as Escape, Enter, C-c, M-Enter, Up, F5, or one character. To type text: teams type",
      },
    );
  }
  if (keys.length > MAX_KEYS)
    throw new TeamError(
      "INVALID_INPUT",
      `${keys.length} keys were given; the maximum is ${MAX_KEYS}. Nothing was pressed.`,
    );
  const pane = await paneOf(ctx, memberName);
  const { name, place, server } = pane;
  const nothingPressed = `No key was pressed in the pane of ${name}`;
  const also = await requireForeground(pane, nothingPressed);
  const pressed = await pressKeys(server, place, keys, also);
  if (pressed !== "pressed") throw refusal(name, nothingPressed, REASONS[pressed]);
}

/**
 * Types a text into the pane of a member and presses Enter, unless a person has begun to type there.
 * @returns whether the program reacted to Enter in time
 * @throws TeamError INVALID_INPUT for an empty text; RECIPIENT_INACTIVE without a tmux pane; PERMISSION_DENIED if the pane takes no
 * text now: the message says what was typed; LOCK_TIMEOUT if another sender takes too long
 */
export async function typeInPane(
  ctx: OperationContext,
  memberName: string,
  text: string,
): Promise<{ readonly confirmed: boolean }> {
  requireLead(ctx, "type into a pane");
  const pane = await paneOf(ctx, memberName);
  // A program may still draw the end of its turn.
  for (const end = steadyNow() + REDRAW_MS; ; await pause(REDRAW_PAUSE_MS)) {
    const outcome = await typeOnce(ctx, pane, text);
    if (outcome.kind !== "held" || outcome.why !== "screen-changed" || steadyNow() > end)
      return confirmedBy(outcome, pane.name);
  }
}

/** Milliseconds for which typing is retried while the screen changes. */
const REDRAW_MS = 3_000;
/** Milliseconds between two attempts. */
const REDRAW_PAUSE_MS = 200;

/** @throws TeamError PERMISSION_DENIED if a person has begun to type, LOCK_TIMEOUT */
async function typeOnce(ctx: OperationContext, pane: PaneToType, text: string): Promise<TypingOutcome> {
  const { name, place, server } = pane;
  const also = await requireForeground(pane, nothingTyped(name));
  const idleScreen = await readPaneScreen(server, place);
  if (idleScreen === undefined) return { kind: "held", why: "gone" };
  const draft = draftOf(idleScreen);
  if (draft !== undefined) {
    const shown = JSON.stringify(shortenedStart(draft, 40));
    throw refusal(name, nothingTyped(name), `a person has typed ${shown} there`);
  }
  const lock = ctx.ref.paths.agent(name).typing;
  ensureDir(dirname(lock));
  return typeMessage(server, place, text, { idleScreen, lock, ...defined({ also }) });
}

/**
 * Requires that the member's own program has the input of its pane: not a shell after Ctrl-Z, and not an editor.
 * @returns a condition of tmux that is true while this stays so; undefined if its program is not known
 * @throws TeamError PERMISSION_DENIED
 */
async function requireForeground(
  { name, place, server, pid }: PaneToType,
  what: string,
): Promise<string | undefined> {
  if (pid === undefined) return undefined;
  const also = await commandNow(server, place);
  // Checked after commandNow(): tmux types only while the foreground command keeps that name.
  if (!isInForeground(pid)) throw refusal(name, what, REASONS["other-program"]);
  return also;
}

const nothingTyped = (name: string): string => `Nothing was typed into the pane of ${name}`;

/** @throws TeamError PERMISSION_DENIED if the text was not submitted */
function confirmedBy(outcome: TypingOutcome, name: string): { readonly confirmed: boolean } {
  switch (outcome.kind) {
    case "sent":
      return { confirmed: true };
    case "unconfirmed":
      return { confirmed: false };
    case "held":
      throw refusal(name, nothingTyped(name), REASONS[outcome.why]);
    case "unsent":
      throw refusal(
        name,
        `The text is in the pane of ${name}, but Enter was not pressed`,
        outcome.why === "unseen" ? "its program has not shown the text" : REASONS[outcome.why],
      );
  }
}

interface PaneToType {
  readonly name: string;
  readonly place: PlaceRecord;
  readonly server: TmuxServer;
  /** The process whose group must be in the foreground; undefined if unknown. */
  readonly pid: number | undefined;
}

/** @throws TeamError RECIPIENT_INACTIVE without a pane; PERMISSION_DENIED if a startup dialog may be open there */
async function paneOf(ctx: OperationContext, memberName: string): Promise<PaneToType> {
  const member = findMember(readTeam(ctx.ref), memberName);
  const { name } = member;
  const { place, pid } = (await inputOfMember(ctx, name)) ?? {};
  if (place?.server === undefined) {
    throw (
      (await unprovenPaneError(ctx, name)) ??
      new TeamError("RECIPIENT_INACTIVE", `${name} has no tmux pane now. Nothing was typed.`, {
        hint: `To send a message: teams send ${memberWord(ctx.ref, name, ctx.env)}`,
      })
    );
  }
  if (mayShowStartDialog(ctx, member)) {
    throw new TeamError("PERMISSION_DENIED", `${nothingTyped(name)}: ${START_DIALOG}.`, {
      hint: `Answer the dialog in the pane: teams attach ${operand(name)}`,
    });
  }
  return { name, place, pid, server: serverAt(place.server, ctx.env) };
}

const REASONS: Readonly<Record<PressRefusal | InputRefusal, string>> = {
  ...PRESS_REFUSALS,
  "screen-changed": "its screen changed meanwhile",
  unbracketed: "its program would submit each line separately, so the text must be a single line",
};

function refusal(name: string, what: string, why: string): TeamError {
  return new TeamError("PERMISSION_DENIED", `${what}: ${why}.`, {
    hint: `See its screen: teams peek ${operand(name)}. Go to its pane: teams attach ${operand(name)}`,
  });
}
