import { callersServer } from "../../backend/tmux/server-for.ts";
import {
  closeTeamSession,
  openTeamSession,
  type TeamSession,
  type TeamSessionRequest,
} from "../../backend/tmux/team-session.ts";
import { EXIT, TeamError } from "../../errors.ts";
import { requireSocket } from "../../operations/processes/require-socket.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import { removeFile } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { signalProcess } from "../../os/process/process-table.ts";
import { runForeground } from "../../os/process/spawn.ts";
import { rootTag } from "../../protocol/paths.ts";
import { LEAD_NAME, teamDir } from "../../schema/names.ts";
import { teamExists } from "../../team/config/config.ts";
import { findTeam } from "../../team/config/find-team.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { type TeamRef, teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { Io } from "../../terminal/io.ts";
import { line } from "../../terminal/output.ts";
import { optionWords as shellOption, shellWord } from "../../text/shell-quote.ts";
import { longName, stripControls } from "../../text/terminal-text.ts";
import { listPanes } from "../../tmux/list-panes.ts";
import { isNoServer, type TmuxServer } from "../../tmux/server.ts";
import { openFileBell } from "../../wakeup/file-bell.ts";
import type { LeadPlan } from "./lead.ts";
import { newResultFile, readReport, resultVariable, summaryIn } from "./run-result.ts";
import { printWithSummary, readAgainLine } from "./run-summary.ts";
import { continueText } from "./team-fate.ts";

/** Time limit in milliseconds for a lead in a session to start, and to end its team. */
const START_TIMEOUT = 15_000;
/** Maximum milliseconds between two reads of the report: needed if the directory cannot be watched. */
const POLL_MS = 1_000;
/** Milliseconds between two checks of a lead that this terminal asked to end. */
const LEAD_END_POLL_MS = 50;
/** Options for the session, which are not passed on to its lead. `marked` is not an option but the team of the caller's pane. */
const CALLER_OPTIONS: ReadonlySet<string> = new Set(["detach", "session", "team", "json", "marked"]);

type RunOptions = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/**
 * Runs the lead in the first pane of a new detached tmux session. With `attach`, shows that session in this terminal and
 * prints the result here at the end of the run; else returns as soon as the lead has started.
 */
export async function runLeadDetached(
  call: AnyCall & { readonly options: RunOptions },
  plan: LeadPlan,
  how: {
    readonly attach: boolean;
    /** Empty if none was given. */
    readonly goal: string;
  },
): Promise<number> {
  const { io, out } = call;
  const team = teamDir(plan.team);
  const server = callersServer(io.env);
  // Subscribed, so that the `finally` below also runs when this terminal closes.
  const signal = io.interruption();
  const home = teamsHome(io.env);
  await requireSocket({ home, env: io.env });
  const resultFile = newResultFile(home.root, team);
  let keepsResult = false;
  const attach = `teams attach ${shellOption("--team", team)}`;
  try {
    const goal = how.goal === "" ? [] : ["--", how.goal];
    const session = await openTeamSession(server, {
      team,
      teamTitle: plan.team,
      rootTag: rootTag(home.root),
      argv: [...io.program, "run", "--team", plan.team, ...forwardedOptions(call.options, plan), ...goal],
      env: { ...io.env, ...resultVariable(resultFile) },
      ...terminalSize(io),
    });
    if (!how.attach) {
      await awaitLeadStart(server, session, resultFile, signal);
      keepsResult = true;
      out.answer(
        { team, session: session.name, attach: session.attach, resultFile },
        () =>
          line`${team} is running in the tmux session ${session.name}. To attach: ${attach}   The result will be in ${resultFile}`,
      );
      return EXIT.done;
    }
    const [program = "tmux", ...words] = session.attach;
    const code = await runForeground(program, words, io.env);
    // If the terminal is lost, the team continues in its session, as after a detach.
    if (
      code !== 0 &&
      !signal.aborted &&
      readReport(resultFile)?.kind !== "ended" &&
      !(await wasAttached(server, session))
    )
      await stopUnshownTeam(server, session, findTeam(home, plan.team));
    const report = readReport(resultFile);
    keepsResult = report?.kind !== "ended";
    return printDetachedResult(call, report, { file: resultFile, attach, isKept: plan.keep });
  } finally {
    if (!keepsResult) removeFile(resultFile);
  }
}

/** Whether a client has attached to the session, or it has ended: in both cases this terminal could show it. */
async function wasAttached(server: TmuxServer, { id }: TeamSession): Promise<boolean> {
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
 * Stops a team whose session this terminal could not show: signals its lead, waits, then closes the session.
 * @throws TeamError TMUX_ERROR, always
 */
async function stopUnshownTeam(server: TmuxServer, session: TeamSession, ref: TeamRef): Promise<never> {
  const lead = readStatus(ref, LEAD_NAME)?.process;
  const deadline = steadyNow() + START_TIMEOUT;
  if (lead !== undefined && livenessOf(lead) === "alive") signalProcess(lead.pid, "SIGTERM");
  while (lead !== undefined && livenessOf(lead) === "alive" && steadyNow() < deadline)
    await pause(LEAD_END_POLL_MS);
  await closeTeamSession(server, session);
  const isKept = teamExists(ref);
  throw new TeamError(
    "TMUX_ERROR",
    `tmux cannot show the team on this terminal (its message is above); the team was ${isKept ? "stopped" : "deleted"}.`,
    {
      hint: `Set TERM to the type of this terminal, or run the team in the background: teams run --detach.${isKept ? ` ${continueText(ref.team)}` : ""}`,
    },
  );
}

/** @throws the failure that the lead reported; TeamError SPAWN_FAILED if it reported nothing before its end or in time, INTERRUPTED */
async function awaitLeadStart(
  server: TmuxServer,
  session: TeamSession,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const attachCommand = session.attach.map(shellWord).join(" ");
  const bell = openFileBell(file);
  const deadline = steadyNow() + START_TIMEOUT;
  try {
    while (readReport(file) === undefined) {
      const timeoutMs = deadline - steadyNow();
      if (timeoutMs <= 0) {
        throw new TeamError(
          "SPAWN_FAILED",
          `The lead in the session ${session.name} did not start within ${START_TIMEOUT / 1000} s; the session is still open.`,
          {
            hint: `Look at its pane: ${attachCommand}`,
          },
        );
      }
      const woken = await bell.wait({ timeoutMs: Math.min(timeoutMs, POLL_MS), signal });
      // Its report may have come just before its end.
      if (woken === "timeout" && (await hasEnded(server, session)) && readReport(file) === undefined) {
        throw new TeamError(
          "SPAWN_FAILED",
          `The lead in the session ${session.name} ended before it was ready.`,
          {
            hint: "To see its error, run the same command without --detach. If it created its team, teams ls lists the team.",
          },
        );
      }
      if (woken === "aborted") {
        throw new TeamError(
          "INTERRUPTED",
          `The lead in the session ${session.name} continues without this terminal.`,
          {
            hint: `Attach to it: ${attachCommand}`,
          },
        );
      }
    }
  } finally {
    bell.close();
  }
}

/** Whether the process in the lead's pane has ended. */
async function hasEnded(server: TmuxServer, session: TeamSession): Promise<boolean> {
  const { panes, serverPid } = await listPanes(server);
  const pane = panes.find(({ id }) => id === session.pane);
  return serverPid !== session.serverPid || pane === undefined || pane.dead;
}

/** Prints the result if the run has ended; else a note with the command to attach and the path of the result. */
function printDetachedResult(
  call: AnyCall,
  report: ReturnType<typeof readReport>,
  { file, attach, isKept }: { readonly file: string; readonly attach: string; readonly isKept: boolean },
): number {
  if (report?.kind !== "ended") {
    // The user detached, or the tmux server has ended.
    call.out.note(
      line`The team continues. To attach: ${attach}   If its tmux server has ended: teams resume   The result will be in ${file}`,
    );
    return EXIT.done;
  }
  const { result } = report;
  const summary = summaryIn(result);
  printWithSummary(call, result, {
    text: () => [stripControls(result.result)],
    summary,
    again: summary === undefined || isKept ? [] : readAgainLine(teamsHome(call.io.env), summary),
    next: result.resume === undefined ? [] : [`To continue: ${result.resume}`],
  });
  return result.outcome === "completed" ? EXIT.done : EXIT.interrupted;
}

function forwardedOptions(options: RunOptions, { once }: LeadPlan): string[] {
  // The session has a terminal, so its lead would stay in conversation.
  return Object.entries({ ...options, once }).flatMap(([key, value]) => {
    if (CALLER_OPTIONS.has(key) || value === undefined || value === false) return [];
    const name = `--${longName(key)}`;
    if (value === true) return [name];
    return [value].flat().map((item) => `${name}=${item}`);
  });
}

function terminalSize({ columns, rows }: Io): Pick<TeamSessionRequest, "size"> {
  return columns === undefined || rows === undefined ? {} : { size: { width: columns, height: rows } };
}
