import { EXIT, TeamError } from "../../errors.ts";
import { approvalDetails } from "../../operations/approvals/approvals.ts";
import { withShortRules } from "../../operations/approvals/request-texts.ts";
import { follow } from "../../operations/follow-team.ts";
import { giveAnswer } from "../../runtime/commands/answer-request.ts";
import type { OpenTeam } from "../../runtime/select-team.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { openFullScreen } from "../../terminal/full-screen.ts";
import { readKeys } from "../../terminal/input/read-keys.ts";
import { wantsColors } from "../../terminal/output.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { doneLine } from "./answer-request.ts";
import { ApprovalsView, type ViewActions } from "./approvals-view.ts";
import { listInTeams } from "./list-in-teams.ts";
import { viewPainter } from "./view-picture.ts";

/** Size of a terminal that does not know its own. */
const [COLUMNS, ROWS] = [80, 24];

/**
 * Shows the waiting requests in the whole terminal, and answers them by keys, until the user quits. Draws after a key, a resize and
 * a change of the teams' files.
 * @param first the id of the request to begin with; by default the oldest
 * @throws TeamError INVALID_INPUT without a terminal, TEAM_NOT_FOUND if the only team is gone; of several, the others stay
 */
export async function openApprovalsView(
  call: AnyCall,
  opened: readonly [OpenTeam, ...OpenTeam[]],
  first?: string,
): Promise<number> {
  const { io } = call;
  // A foreign member's messages contain its ids: two teams may have the same id. The index survives a new name of a team.
  const keyOf = (open: OpenTeam, id: string): string => `${opened.indexOf(open)}/${id}`;
  const requestOf = (key: string): { readonly open: OpenTeam; readonly id: string } => {
    const end = key.indexOf("/");
    return { open: opened[Number(key.slice(0, end))] ?? opened[0], id: key.slice(end + 1) };
  };
  const title = (): string => {
    const key = view.shown?.key;
    return key === undefined ? opened.map(({ ref }) => ref.team).join(", ") : requestOf(key).open.ref.team;
  };
  assertTerminal(call);
  const signal = io.interruption();
  const quitting = new AbortController();
  let failure: unknown;
  let isInterrupted = false;
  const screen = openFullScreen((text) => io.out(text));
  const paint = viewPainter();
  const draw = (): void => {
    if (quitting.signal.aborted) return;
    const [width, height] = [io.columns ?? COLUMNS, io.rows ?? ROWS];
    const plain = !wantsColors(io.env, true);
    const { ascii } = terminalAbilities(io.env);
    screen.draw(paint(view, { width, height, plain, ascii, team: title() }));
  };
  const act: ViewActions = {
    list: async () => {
      const found = await listInTeams(opened, io.env, (error) => {
        view.notice = error.message;
      });
      return found.map(({ approval: { id, at }, open }) => ({ key: keyOf(open, id), at }));
    },
    details: (key) => {
      const { open, id } = requestOf(key);
      return unlessClosed(async () => withShortRules(open.ref, await approvalDetails(open.ref, id)));
    },
    answer: async (key, { approve, note, always }) => {
      const { open, id } = requestOf(key);
      const answer = note === undefined ? { approve } : { approve, note };
      const rules = always && { rules: [], save: undefined };
      const given = await unlessClosed(() => giveAnswer(call, open, id, answer, rules));
      if (given === undefined) return "The request was already answered or closed; your answer was not used.";
      return [doneLine(given.approval, approve, true), ...given.rules].join(" ");
    },
    changed: draw,
    problem: (error) => {
      failure ??= error;
      quitting.abort();
    },
    quit: (how) => {
      isInterrupted = how === "interrupt";
      quitting.abort();
    },
  };
  const view = new ApprovalsView(act, first === undefined ? undefined : keyOf(opened[0], first));
  const stopKeys = readKeys(view, (sequence) => io.out(sequence));
  const resized = (): void => {
    screen.forget();
    draw();
  };
  process.stdout.on("resize", resized);
  try {
    const reload = async (): Promise<boolean> => {
      await view.reload();
      return false;
    };
    const ending = AbortSignal.any([signal, quitting.signal]);
    await Promise.all(opened.map(({ ref }) => follow(ref, reload, { signal: ending }).catch(act.problem)));
  } finally {
    process.stdout.off("resize", resized);
    stopKeys();
    screen.close();
  }
  if (failure !== undefined) throw failure;
  return isInterrupted || signal.aborted ? EXIT.interrupted : EXIT.done;
}

function assertTerminal({ io, options }: AnyCall): void {
  if (options.json) {
    throw new TeamError("INVALID_INPUT", "--interactive draws on a terminal, and --json prints JSON.", {
      hint: "Use teams approvals --json.",
    });
  }
  if (io.terminal.stdin && io.terminal.stdout) return;
  throw new TeamError("INVALID_INPUT", "--interactive needs a terminal, and stdin or stdout is not one.", {
    hint: "Use teams approvals, teams approve and teams reject.",
  });
}

/** The errors for a request that has an answer or is closed, for example because its team was deleted. */
const CLOSED: ReadonlySet<string> = new Set(["ALREADY_ANSWERED", "REQUEST_NOT_FOUND", "TEAM_NOT_FOUND"]);

/** @returns undefined if the request has an answer, or is closed */
async function unlessClosed<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isClosed = error instanceof TeamError && CLOSED.has(error.code);
    if (isClosed) return undefined;
    throw error;
  }
}
