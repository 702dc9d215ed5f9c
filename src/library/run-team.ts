import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { ERROR_EXIT, type ErrorCode, TeamError } from "../errors.ts";
import { moveAfterRename } from "../operations/follow-team.ts";
import { EVENTS_COPY_VARIABLE } from "../operations/run/copy-events.ts";
import { requireValidTools } from "../operations/spawn/tool-limits.ts";
import { createTemporaryDirectory } from "../os/files/atomic-write.ts";
import { removeTree } from "../os/files/fs.ts";
import { type BoundResult, runBound } from "../os/process/bound-program.ts";
import { defined } from "../schema/defined.ts";
import { isGeneratedTeamName } from "../schema/names.ts";
import { teamExists } from "../team/config/config.ts";
import { teamExistsError } from "../team/config/create-files.ts";
import { type Home, movableRef, type TeamRef, teamRef, teamsHome } from "../team/ref.ts";
import { attempt, interrupted, ofCaller } from "./attempt.ts";
import { requireArguments, requireChoices, requireLimits, requireTexts } from "./checks.ts";
import { followEvents } from "./events.ts";
import { hostOf, requireProgram } from "./host.ts";
import type { RunOptions, RunResult } from "./reports.ts";

/**
 * Gives a goal to a lead, which builds a team and works with it. Resolves with the result when the goal is reached and no teammate
 * works, not even with a command in the background. The lead runs in a separate process; the run is interrupted if this process dies.
 * An abort stops the teammates, which takes seconds, and keeps the team.
 * @throws TeamError INTERRUPTED (`details.team` names the kept team, or is null), MODEL_ERROR, INVALID_INPUT, INVALID_MODEL, INVALID_NAME,
 * TEAM_EXISTS, TMUX_NOT_FOUND, SPAWN_FAILED, PERMISSION_DENIED for a mode that a setting forbids, NESTED_TEAM and ALREADY_LEADING in the
 * shell of an agent, STORAGE_ERROR if `record` could not be written; the error of `onEvent` unchanged, after it has interrupted the run
 * @example
 * const { result, costUsd } = await runTeam({ goal: "Find every TODO.", budget: { maxTokens: 500_000 }, signal });
 */
export function runTeam(options: RunOptions): Promise<RunResult> {
  return attempt(options.signal, async (signal) => {
    const { permissionMode, teammateMode, afterwards, budget, goal = "" } = options;
    const { systemPrompt, appendSystemPrompt } = options;
    requireChoices({ permissionMode, teammateMode, afterwards });
    requireArguments({ systemPrompt, appendSystemPrompt });
    const { team, model, playbook, record, recording } = options;
    const directory = recording === true ? undefined : recording;
    requireTexts({ goal, team, model, playbook, record, recording: directory });
    requireLimits(budget);
    const { tools, allowedTools, disallowedTools } = options;
    // On the command line of the run, an empty list would set no option, and thus allow all tools.
    requireValidTools("the lead", defined({ tools, allowedTools, disallowedTools }));
    const host = await hostOf(options);
    requireProgram(host);
    const name = options.team ?? `run-${randomBytes(2).toString("hex")}`;
    const ref = refOfRun(teamsHome(host.env), name);
    // The run refuses this name too, but only after `onEvent` received events of the other team.
    if (teamExists(ref)) throw teamExistsError(ref);
    const failed = new AbortController();
    const stop = AbortSignal.any([signal, failed.signal]);
    const ended = new AbortController();
    const scratch = options.onEvent && createTemporaryDirectory("teams-events-");
    const copied = scratch === undefined ? {} : { copy: join(scratch, "events.jsonl") };
    const events = deliverEvents(ref, options.onEvent, { signal: ended.signal, ...copied }).catch(
      (error: unknown) => {
        failed.abort(error);
      },
    );
    const [node, file] = host.program;
    const args = [file, ...argumentsOf({ ...options, team: name })];
    // On stdin: a goal may be longer than an argument, and other users of the machine can read arguments.
    const isGiven = goal.trim() !== "";
    const result = await runBound(node, isGiven ? [...args, "-"] : args, {
      ...{ cwd: host.cwd, env: { ...host.env, [EVENTS_COPY_VARIABLE]: copied.copy }, signal: stop },
      input: isGiven ? goal : undefined,
    }).finally(async () => {
      ended.abort();
      await events;
      if (scratch !== undefined) removeTree(scratch);
    });
    if (failed.signal.aborted) throw failed.signal.reason;
    moveAfterRename(ref);
    return readResult(result, { signal, note: host.note, team: teamExists(ref) ? ref.team : null });
  });
}

/** A lead can rename only a team with a generated name, and the ref follows. Another name may also be the display name of a different team. */
function refOfRun(home: Home, name: string): TeamRef {
  const ref = teamRef(home, name);
  return isGeneratedTeamName(ref.team) ? movableRef(ref) : ref;
}

async function deliverEvents(
  ref: TeamRef,
  onEvent: RunOptions["onEvent"],
  following: { readonly signal: AbortSignal; readonly copy?: string },
): Promise<void> {
  if (onEvent === undefined) return;
  for await (const event of followEvents(ref, { ...following, isExpected: true }))
    await ofCaller(() => onEvent(event));
}

/** Returns the arguments of a run without a terminal, without its goal. */
function argumentsOf(options: RunOptions): string[] {
  const { budget = {}, recording, afterwards } = options;
  const value = (name: string, given: string | number | undefined): string[] =>
    given === undefined ? [] : [`--${name}=${given}`];
  const list = (name: string, given: readonly string[] = []): string[] =>
    given.map((one) => `--${name}=${one}`);
  return [
    "run",
    "--json",
    ...value("team", options.team),
    ...value("model", options.model),
    ...value("playbook", options.playbook),
    ...value("record", options.record),
    ...value("permission-mode", options.permissionMode),
    ...value("teammate-mode", options.teammateMode),
    ...value("system-prompt", options.systemPrompt),
    ...value("append-system-prompt", options.appendSystemPrompt),
    ...value("max-tokens", budget.maxTokens),
    ...value("max-cost", budget.maxCostUsd?.toFixed(9)),
    ...list("allowed-tools", options.allowedTools),
    ...list("disallowed-tools", options.disallowedTools),
    ...list("tools", options.tools),
    ...(options.delegate ? ["--delegate"] : []),
    ...(options.debug ? ["--debug"] : []),
    ...(recording === true ? ["--rec"] : value("rec", recording)),
    ...(afterwards === "keep" ? ["--keep"] : afterwards === "delete" ? ["--rm"] : []),
  ];
}

interface RunEnd {
  readonly signal: AbortSignal;
  /** null if the team no longer exists, or was never created. */
  readonly team: string | null;
  note(text: string): void;
}

type PrintedResult = Omit<RunResult, "outcome"> & { readonly outcome: string };

/**
 * Converts the ISO times of a printed result to milliseconds, like all times of the library. An invalid time is printed as null, and
 * becomes NaN: 0 would be a wrong time.
 */
function withTimes(result: PrintedResult | undefined): PrintedResult | undefined {
  if (result?.tasks === undefined) return result;
  const tasks = result.tasks.map(({ verifyRun, ...task }) => ({
    ...task,
    verifyRun: verifyRun && { ...verifyRun, at: Date.parse(String(verifyRun.at)) },
  }));
  return { ...result, tasks };
}

/** Parses the output of a run. @throws TeamError the failure of the run */
function readResult(ended: BoundResult, { signal, team, note }: RunEnd): RunResult {
  const result = withTimes(parsed(ended.stdout) as PrintedResult | undefined);
  const lines = ended.stderr.split("\n").filter((line) => line !== "");
  const failure = lines.flatMap((line) => failureIn(line) ?? [])[0];
  for (const line of lines) if (failureIn(line) === undefined) note(line.replace(/^teams: /, ""));
  if (failure !== undefined) throw failure;
  if (result?.outcome === "completed" && ended.code === 0) return result as RunResult;
  if (result?.outcome === "interrupted" || signal.aborted) {
    const what = team === null ? "The run was interrupted." : `The run was interrupted; ${team} is kept.`;
    throw interrupted(signal, what, { ...result, team });
  }
  const lastLine = lines.at(-1) ?? "";
  const details = result === undefined ? {} : { details: { ...result } };
  // Only a recording that could not be written makes a completed run fail.
  if (result?.outcome === "completed") {
    const hint = "The run itself completed: the details of this error contain its result.";
    throw new TeamError("STORAGE_ERROR", lastLine, { hint, ...details });
  }
  const how = ended.endedBy ?? `exit code ${ended.code}`;
  throw new TeamError("SPAWN_FAILED", `The run ended (${how}) without a result. ${lastLine}`.trim(), {
    hint: "Check whether its team still exists: teams ls",
    ...details,
  });
}

function failureIn(line: string): TeamError | undefined {
  const { error } = (parsed(line) ?? {}) as { error?: Record<string, unknown> };
  if (error === undefined || typeof error.code !== "string") return undefined;
  const { code, message, hint, details } = error;
  const known = Object.hasOwn(ERROR_EXIT, code) ? (code as ErrorCode) : "SPAWN_FAILED";
  return new TeamError(known, String(message), {
    ...(typeof hint === "string" && { hint }),
    ...(typeof details === "object" && details !== null && { details: details as Record<string, unknown> }),
  });
}

function parsed(text: string): object | undefined {
  if (!text.trimStart().startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    // Other output, such as a warning of Node.
    return undefined;
  }
}
