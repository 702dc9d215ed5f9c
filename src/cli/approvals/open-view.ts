import { EXIT, TeamError } from "../../errors.ts";
import { approvalDetails, listApprovals } from "../../operations/approvals/approvals.ts";
import { openForeignRequests } from "../../operations/approvals/foreign-requests.ts";
import { follow } from "../../operations/follow-team.ts";
import type { OpenTeam } from "../../runtime/select-team.ts";
import { teamExists } from "../../team/config/config.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { openFullScreen } from "../../terminal/full-screen.ts";
import { readKeys } from "../../terminal/input/read-keys.ts";
import { wantsColors } from "../../terminal/output.ts";
import { terminalAbilities } from "../../terminal/terminal-abilities.ts";
import { doneLine, giveAnswer } from "./answer-request.ts";
import { ApprovalsView, type ViewActions } from "./approvals-view.ts";
import { viewPainter } from "./view-picture.ts";

/** Size of a terminal that does not know its own. */
const [COLUMNS, ROWS] = [80, 24];

/**
 * Shows the waiting requests in the whole terminal, and answers them by keys, until the user quits. Draws after a key, a resize and
 * a change of the teams' files.
 * @param first the id of the request to begin with; by default the oldest
 * @throws TeamError INVALID_INPUT without a terminal, TEAM_NOT_FOUND if the team is gone
 */
export async function openApprovalsView(
  call: AnyCall,
  opened: readonly [OpenTeam, ...OpenTeam[]],
  first?: string,
): Promise<number> {
  const { io } = call;
  /** The team of each request, also after its end. */
  const owners = new Map<string, OpenTeam>();
  const ownerOf = (id: string): OpenTeam => owners.get(id) ?? opened[0];
  const title = (): string => {
    const id = view.shown?.details.id;
    return id === undefined ? opened.map(({ ref }) => ref.team).join(", ") : ownerOf(id).ref.team;
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
      const lists = await Promise.all(
        opened.map(async (open) => {
          // The others still have requests.
          if (opened.length > 1 && !teamExists(open.ref)) return [];
          await openForeignRequests(open.ref, io.env);
          const found = listApprovals(open.ref);
          for (const { id } of found) owners.set(id, open);
          return found;
        }),
      );
      return lists.flat().sort((a, b) => a.at - b.at);
    },
    details: (id) => unlessClosed(() => approvalDetails(ownerOf(id).ref, id)),
    answer: async (id, { approve, note, always }) => {
      const answer = note === undefined ? { approve } : { approve, note };
      const rules = always && { rules: [], save: undefined };
      const given = await unlessClosed(() => giveAnswer(call, ownerOf(id), id, answer, rules));
      if (given === undefined) return "It had an answer already; the first one counts.";
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
  const view = new ApprovalsView(act, first);
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

/** @returns undefined if the request has an answer, or is closed */
async function unlessClosed<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    const isClosed =
      error instanceof TeamError && ["ALREADY_ANSWERED", "REQUEST_NOT_FOUND"].includes(error.code);
    if (isClosed) return undefined;
    throw error;
  }
}
