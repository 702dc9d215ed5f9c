import { EXIT, TeamError } from "../../errors.ts";
import { answerApproval } from "../../operations/approvals/approvals.ts";
import type { OperationContext } from "../../operations/context.ts";
import { type KillReport, killTeammates } from "../../operations/ending/kill.ts";
import { UNPROVEN_END } from "../../operations/ending/remove-member.ts";
import { type ShutdownReport, shutdownTeammates } from "../../operations/ending/shutdown.ts";
import { isRecordedHidden, setHidden } from "../../operations/hide-pane.ts";
import { type InterruptReport, interruptAgent } from "../../operations/interrupt.ts";
import { plainText } from "../../protocol/messages.ts";
import { isCrashId } from "../../protocol/request-ids.ts";
import { refuseForeignTeam } from "../../runtime/operation-context.ts";
import type { OpenTeam } from "../../runtime/select-team.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { LineComment } from "../../sidebar/documents.ts";
import type { SidebarActions } from "../../sidebar/sidebar.ts";
import type { Answer } from "../../sidebar/state.ts";
import { readTeam } from "../../team/config/config.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { stayLines } from "../../terminal/adopted-text.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { capturedIo } from "../../terminal/captured-io.ts";
import { keptLines } from "../../terminal/worktree-text.ts";
import { shellWord } from "../../text/shell-quote.ts";
import { gridText } from "../../text/terminal-text.ts";
import { focusFirstPane } from "../focus-member.ts";

/** Returns what the keys of the sidebar do to the team. */
export function sidebarActions(
  call: AnyCall,
  open: OpenTeam,
  ctx: OperationContext,
): Omit<SidebarActions, "open"> {
  return {
    member: {
      focus: (member) => focus(ctx, member, false),
      zoom: (member) => focus(ctx, member, true),
      hide: (member) => hide(ctx, member),
      interrupt: async (member) => INTERRUPTED[(await interruptAgent(ctx, member)).outcome](member),
      shutdown: async (member) => {
        const { members } = readTeam(ctx.ref);
        const [report] = await shutdownTeammates(ctx, [member]);
        return report && oneLine([shutdownResult(report), ...stayLines(members, new Set([member]))]);
      },
      kill: async (member) => {
        refuseForeignTeam(open, { named: true, force: false });
        const { members } = readTeam(ctx.ref);
        const [report] = await killTeammates(ctx, [member]);
        if (report === undefined) return undefined;
        const stays = stayLines(members, new Set([member]));
        return oneLine([killResult(report), ...stays, ...keptLines([report.worktree])]);
      },
    },
    answer: (given) => answer(call, ctx, given),
    message: async (to, text) => {
      const sent = await sendMessage(ctx.ref, { from: ctx.actor, to, text: plainText(text) }, ctx.clock);
      return sent.queuedForRestart ? `${to} is not running; the message waits for its restart` : undefined;
    },
    comments: (member, comments) => sendLineComments(ctx, member, comments),
    spawn: async (name, prompt) => {
      const task = prompt === "" ? [] : [`--prompt=${prompt}`];
      await runTeams(call, ctx, ["spawn", ...task, "--", name]);
      return `${name} is ready`;
    },
  };
}

/** @returns a message for the user; undefined if the pane is shown */
async function focus(ctx: OperationContext, member: string, zoom: boolean): Promise<string | undefined> {
  const outcome = await focusFirstPane(ctx, [member], { zoom });
  if (outcome.kind === "switched") return undefined;
  return outcome.kind === "gone"
    ? `${member} has no pane.`
    : `No terminal is attached. Run: ${outcome.argv.map(shellWord).join(" ")}`;
}

/** @returns the result, short enough for the narrow bottom line */
async function hide(ctx: OperationContext, member: string): Promise<string> {
  const hides = !isRecordedHidden(ctx, member);
  const outcome = await setHidden(ctx, member, hides);
  if (outcome === "own-window") return `${member} has its own window`;
  return hides ? `${member} is hidden; h shows it` : `${member} is shown again`;
}

const INTERRUPTED: Readonly<Record<InterruptReport["outcome"], (member: string) => string>> = {
  interrupted: (member) => `${member} was interrupted`,
  idle: (member) => `${member} is idle; there was nothing to interrupt`,
  asked: (member) => `${member} was asked to stop`,
  pressed: (member) => `the interrupt key was pressed in the pane of ${member}`,
};

/** @throws TeamError if the teammate still runs */
function shutdownResult({ name, outcome, reason, unproven }: ShutdownReport): string {
  if (unproven) return `${name} ${UNPROVEN_END}`;
  if (outcome === "approved") return `${name} has shut down`;
  if (outcome === "gone") return `${name} had already ended`;
  const why = outcome === "rejected" ? `refused: ${reason ?? "it gave no reason"}` : "did not end in time";
  throw new TeamError("TIMEOUT", `${name} ${why}. It is still running; K ends it.`);
}

function killResult({ name, outcome, left, unproven }: KillReport): string {
  if (unproven) return `${name} ${UNPROVEN_END}`;
  if (left.length > 0)
    return `${name} has left the team, but these processes could not be ended: ${left.join(", ")}`;
  return outcome === "out-of-reach"
    ? `${name} has left the team; no signal from here reaches its process`
    : `${name} has ended`;
}

/** Joins sentences for the bottom line, which ends without a period. */
function oneLine(sentences: readonly string[]): string {
  return sentences.map((sentence) => sentence.replace(/\.$/, "")).join(". ");
}

async function answer(
  call: AnyCall,
  ctx: OperationContext,
  { id, from, verdict, note }: Answer,
): Promise<string> {
  try {
    // A restart needs settings, as a spawn does.
    if (isCrashId(id)) {
      await runTeams(call, ctx, [verdict === "no" ? "reject" : "approve", "--", id]);
      return `${from} ${verdict === "no" ? "is removed from the team" : "is restarted"}`;
    }
    if (verdict === "always") {
      const noteWords = note === "" ? [] : [`--note=${note}`];
      await runTeams(call, ctx, ["approve", "--always", ...noteWords, "--", id]);
      return `Answered ${from}: yes, always`;
    }
    await answerApproval(ctx, id, { approve: verdict === "yes", ...(note === "" ? {} : { note }) });
    return `Answered ${from}: ${verdict}`;
  } catch (error) {
    const late = ["ALREADY_ANSWERED", "REQUEST_NOT_FOUND"];
    if (error instanceof TeamError && late.includes(error.code))
      return `${from}'s request was already answered or closed`;
    throw error;
  }
}

async function sendLineComments(
  ctx: OperationContext,
  member: string,
  comments: readonly LineComment[],
): Promise<string> {
  const { sendComments } = await import("../../operations/landing/review-comments.ts");
  const ordered = comments.toSorted((a, b) => a.path.localeCompare(b.path) || a.line - b.line);
  const { to, queuedForRestart } = await sendComments(
    ctx,
    member,
    ordered.map(({ path, line, side, quote, text }) => ({
      ...{ path, line, text, quote: [quote] },
      ...(side === "before" ? { isRemoved: true } : {}),
    })),
  );
  const count = `${comments.length} ${comments.length === 1 ? "comment" : "comments"}`;
  return queuedForRestart
    ? `${to} is not running; ${count} wait for its restart`
    : `sent ${count} to ${to} as one message`;
}

/**
 * Runs a command of `teams` in the lead's directory, whose settings apply.
 * @throws TeamError with its message
 */
async function runTeams(
  { io, runProgram }: AnyCall,
  { ref }: OperationContext,
  words: readonly [string, ...string[]],
): Promise<void> {
  let text = "";
  const write = (piece: string): void => {
    text += piece;
  };
  const [name, ...rest] = words;
  const cwd = readTeam(ref).members.find((member) => member.name === LEAD_NAME)?.cwd || io.cwd;
  const argv = [name, `--team=${ref.team}`, "--json", ...rest];
  const { signal } = new AbortController();
  const code = await runProgram(capturedIo(io, { argv, env: io.env, cwd, write, signal }));
  if (code !== EXIT.done) throw failureOf(text);
}

/** Returns the error that a command printed as JSON. */
function failureOf(text: string): TeamError {
  const last = text.trim().split("\n").at(-1) ?? "";
  try {
    const { code, message, hint } = (JSON.parse(last) as { error: TeamError }).error;
    return new TeamError(code, message, hint === undefined ? {} : { hint });
  } catch {
    // Not an error in JSON: the user reads the printed text.
    return new TeamError("SPAWN_FAILED", gridText(text));
  }
}
