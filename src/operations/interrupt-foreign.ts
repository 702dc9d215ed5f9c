import { draftOf } from "../adapter/native/draft.ts";
import { PRESS_REFUSALS, pressKeys } from "../adapter/native/press-keys.ts";
import { readPaneScreen } from "../adapter/native/type-message.ts";
import { hasInput } from "../backend/tmux/foreign-pane.ts";
import { serverAt } from "../backend/tmux/server-for.ts";
import { TeamError } from "../errors.ts";
import { processTable } from "../os/process/process-table.ts";
import type { TeamMember } from "../schema/config.ts";
import { defined } from "../schema/defined.ts";
import type { PlaceRecord, StatusRecord } from "../schema/status.ts";
import { memberWord } from "../team/address-words.ts";
import { readTeam } from "../team/config/config.ts";
import { judgeForeign } from "../team/members/judge-foreign.ts";
import { findMember } from "../team/members/members.ts";
import { readForeign, writeForeign } from "../team/records/foreign-record.ts";
import { readHook, writeHook } from "../team/records/hook-record.ts";
import type { TeamRef } from "../team/ref.ts";
import { ring } from "../wakeup/fifo-bell.ts";
import type { OperationContext } from "./context.ts";
import { mayShowStartDialog, recordedFacts, START_DIALOG } from "./processes/foreign-facts.ts";
import { proveForeignMember } from "./processes/foreign-members.ts";
import { hasUnreportedTurn } from "./processes/unreported-turn.ts";

/**
 * Interrupts a foreign member by Escape in its proven pane: its program accepts no interrupt by message. Records the time, since
 * claude sends no idle notice after an interrupt.
 * @returns `pressed`; `idle` if it is known to be between turns, where a second Escape would open a menu; `unproven` without a
 * proven pane
 * @throws TeamError RECIPIENT_INACTIVE if its process has ended; PERMISSION_DENIED if its pane takes no key now, or may show a
 * startup dialog: nothing was pressed
 */
export async function interruptForeign(
  ctx: OperationContext,
  name: string,
): Promise<"pressed" | "idle" | "unproven"> {
  const config = readTeam(ctx.ref);
  const member = findMember(config, name);
  const proof = await proveForeignMember(ctx, config, member);
  if (proof.alive === false) {
    throw new TeamError(
      "RECIPIENT_INACTIVE",
      `${name} is not running, so there is nothing to interrupt: its process ${proof.process.pid} has ended.`,
    );
  }
  const place = proof.alive ? proof.place : undefined;
  if (proof.alive !== true || place?.server === undefined) return "unproven";
  if (mayShowStartDialog(ctx, member)) throw refusal(ctx.ref, name, START_DIALOG);
  const facts = recordedFacts(ctx, member);
  if (facts !== undefined && ["idle", "failed"].includes(judgeForeign({ ...facts, alive: true }).state))
    return "idle";
  await pressIn(ctx, name, proof.process.pid, place);
  const record = readForeign(ctx.ref, name);
  if (config.schemaVersion !== undefined && record !== undefined)
    writeForeign(ctx.ref, name, { ...record, interruptedAt: ctx.clock.now() });
  return "pressed";
}

/**
 * Interrupts a CLI that reads its inbox itself by Escape in its pane, as {@link interruptForeign}.
 * @throws TeamError PERMISSION_DENIED if its pane takes no key now: nothing was pressed
 */
export async function interruptOnScreen(
  ctx: OperationContext,
  member: TeamMember,
  status: StatusRecord,
  place: PlaceRecord | undefined,
): Promise<"pressed" | "idle"> {
  const { name } = member;
  const { state, process, instance, startDialog } = status;
  if (startDialog === true) throw refusal(ctx.ref, name, START_DIALOG);
  const isResting = state === "idle" || state === "failed";
  if (isResting && !hasUnreportedTurn(ctx.ref, member, status)) return "idle";
  await pressIn(ctx, name, process.pid, place);
  const event = "interrupted" as const;
  const before = { ...readHook(ctx.ref, name), detail: undefined };
  writeHook(ctx.ref, name, defined({ ...before, instance, event, at: ctx.clock.now() }));
  ring(ctx.ref.paths.agent(name).bell);
  return "pressed";
}

async function pressIn(
  ctx: OperationContext,
  name: string,
  pid: number,
  place: PlaceRecord | undefined,
): Promise<void> {
  if (place?.server === undefined) throw refusal(ctx.ref, name, "it is in no tmux pane that teams knows");
  if (!hasInput(pid, processTable())) throw refusal(ctx.ref, name, "another program in it has the keyboard");
  const server = serverAt(place.server, ctx.env);
  const screen = await readPaneScreen(server, place);
  // The key could delete what a person has typed.
  if (screen !== undefined && draftOf(screen) !== undefined)
    throw refusal(ctx.ref, name, "a person has begun to type there");
  const pressed = await pressKeys(server, place, ["Escape"]);
  if (pressed !== "pressed") throw refusal(ctx.ref, name, PRESS_REFUSALS[pressed]);
}

function refusal(ref: TeamRef, name: string, why: string): TeamError {
  return new TeamError(
    "PERMISSION_DENIED",
    `Escape was not pressed in the pane of ${name}, so its turn was not interrupted: ${why}.`,
    { hint: `Go to the pane and press Escape there: teams attach ${memberWord(ref, name)}` },
  );
}
