import { callersServer } from "../../backend/tmux/server-for.ts";
import {
  closeTeamSession,
  openTeamSession,
  type TeamSession,
  type TeamSessionRequest,
} from "../../backend/tmux/team-session.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { pause, systemClock } from "../../os/clock.ts";
import { removeFile } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { signalProcess } from "../../os/process/process-table.ts";
import { runForeground } from "../../os/process/spawn.ts";
import { rootTag } from "../../protocol/paths.ts";
import { LEAD_NAME, teamDir } from "../../schema/names.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { type TeamRef, teamRef, teamsHome } from "../../team/ref.ts";
import { type AnyCall, longName } from "../../terminal/call.ts";
import type { Io } from "../../terminal/io.ts";
import { line } from "../../terminal/paint.ts";
import { optionWords as shellOption, shellWord } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { openFileBell } from "../../wakeup/file-bell.ts";
import type { LeadPlan } from "./lead.ts";
import { newResultFile, readReport, resultVariable } from "./run-result.ts";

/** Milliseconds for a lead in a session to begin. */
const START_TIMEOUT = 15_000;
/** Longest wait between two looks, in milliseconds: the net for a directory that cannot be watched. */
const POLL_MS = 1_000;
/** Milliseconds between two looks at a lead that was told to end, for which this terminal waits. */
const LEAD_END_LOOK = 50;
/** Options that concern the session and not the lead in it. */
const OF_THE_CALLER: ReadonlySet<string> = new Set(["detach", "session", "team", "json"]);

type RunOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/**
 * Leads from the first pane of a detached session of the team's own: attached to in this terminal, with the result
 * printed here when it is over; or left to itself.
 */
export async function runLeadDetached(
  call: AnyCall & { readonly options: RunOptions },
  plan: LeadPlan,
  how: {
    readonly attach: boolean;
    /** Empty where none was given. */
    readonly goal: string;
  },
): Promise<number> {
  const { io, out } = call;
  const team = teamDir(plan.team);
  const server = callersServer(io.env);
  // Heard, so that also a terminal that closes takes what was told to it along.
  const signal = io.interruption();
  const home = teamsHome(io.env);
  const resultFile = newResultFile(home.root, team);
  let isKept = false;
  const attach = `teams attach ${shellOption("--team", team)}`;
  try {
    const goal = how.goal === "" ? [] : ["--", how.goal];
    const session = await openTeamSession(server, {
      team,
      teamTitle: plan.team,
      rootTag: rootTag(home.root),
      argv: [...io.program, "run", "--team", plan.team, ...optionWords(call.options), ...goal],
      env: { ...io.env, ...resultVariable(resultFile) },
      ...sizeOf(io),
    });
    if (!how.attach) {
      await leadStarted(resultFile, session, signal);
      isKept = true;
      out.answer(
        { team, session: session.name, attach: session.attach, resultFile },
        () =>
          line`${team} runs in the tmux session ${session.name}. Go there: ${attach}   its result, at its end: ${resultFile}`,
      );
      return EXIT.done;
    }
    const [program = "tmux", ...words] = session.attach;
    const code = await runForeground(program, words, io.env);
    // A terminal that was lost leaves the team at work in its session, as one that was detached does.
    if (
      code !== 0 &&
      !signal.aborted &&
      readReport(resultFile)?.kind !== "ended" &&
      !(await wasShown(server, session))
    )
      await giveUp(server, session, teamRef(home, plan.team));
    const report = readReport(resultFile);
    isKept = report?.kind !== "ended";
    return printDetachedResult(call, report, { file: resultFile, attach });
  } finally {
    if (!isKept) removeFile(resultFile);
  }
}

/** Whether a client has looked at it by now, or it is gone: then this terminal could show it. */
async function wasShown(server: TmuxServer, { id }: TeamSession): Promise<boolean> {
  try {
    const words = ["list-sessions", "-F", "#{session_id} #{session_last_attached}"];
    const found = (await server.call(words)).split("\n").find((row) => row.startsWith(`${id} `));
    return found === undefined || found !== `${id} `;
  } catch (error) {
    if (isNoServer(error)) return true;
    throw error;
  }
}

/**
 * This terminal could not show the session: its lead is told to end its team, and has its time to do it.
 * @throws TeamError TMUX_ERROR, always; or the failure that the lead reported
 */
async function giveUp(server: TmuxServer, session: TeamSession, ref: TeamRef): Promise<never> {
  const lead = readStatus(ref, LEAD_NAME)?.process;
  const deadline = systemClock.now() + START_TIMEOUT;
  if (lead !== undefined && livenessOf(lead) === "alive") signalProcess(lead.pid, "SIGTERM");
  while (lead !== undefined && livenessOf(lead) === "alive" && systemClock.now() < deadline)
    await pause(LEAD_END_LOOK);
  await closeTeamSession(server, session);
  throw new TeamError(
    "TMUX_ERROR",
    "tmux cannot show the team on this terminal (its own words are above); the team was ended.",
    {
      hint: "Set TERM to what this terminal is, or let it run unseen: teams run --detach",
    },
  );
}

/** @throws the failure that the lead reported; TeamError SPAWN_FAILED when it said nothing in time, INTERRUPTED */
async function leadStarted(file: string, session: TeamSession, signal: AbortSignal): Promise<void> {
  const there = session.attach.map(shellWord).join(" ");
  const bell = openFileBell(file);
  const deadline = systemClock.now() + START_TIMEOUT;
  try {
    while (readReport(file) === undefined) {
      const timeoutMs = deadline - systemClock.now();
      if (timeoutMs <= 0) {
        throw new TeamError(
          "SPAWN_FAILED",
          `The lead in the session ${session.name} has not begun to work.`,
          {
            hint: `See what its pane says: ${there}`,
          },
        );
      }
      if ((await bell.wait({ timeoutMs: Math.min(timeoutMs, POLL_MS), signal })) === "aborted") {
        throw new TeamError("INTERRUPTED", `The lead in the session ${session.name} continues by itself.`, {
          hint: `Go there: ${there}`,
        });
      }
    }
  } finally {
    bell.close();
  }
}

/** @param where its result will be, and how one goes there */
function printDetachedResult(
  { out }: AnyCall,
  report: ReturnType<typeof readReport>,
  { file, attach }: { readonly file: string; readonly attach: string },
): number {
  if (report?.kind !== "ended") {
    // Detached by hand, or its tmux server has ended.
    out.note(
      line`The team works on: ${attach} (where its server has ended: teams resume); its result, at its end: ${file}`,
    );
    return EXIT.done;
  }
  const { result } = report;
  out.answer(result, () => stripControls(result.result));
  return result.outcome === "completed" ? EXIT.done : EXIT.interrupted;
}

function optionWords(options: RunOptions): string[] {
  return Object.entries(options).flatMap(([key, value]) => {
    if (OF_THE_CALLER.has(key) || value === undefined || value === false) return [];
    const name = `--${longName(key)}`;
    if (value === true) return [name];
    return [value].flat().flatMap((one) => [name, one]);
  });
}

function sizeOf({ columns, rows }: Io): Pick<TeamSessionRequest, "size"> {
  return columns === undefined || rows === undefined ? {} : { size: { width: columns, height: rows } };
}
