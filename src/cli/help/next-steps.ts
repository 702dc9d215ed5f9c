import { defaultModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import { EXIT } from "../../errors.ts";
import { type TeamOverview, teamOverview } from "../../operations/team-summary.ts";
import type { Env } from "../../os/env.ts";
import { findProgram } from "../../os/files/access.ts";
import { nearbyTeam } from "../../runtime/nearby-team.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { memberWord } from "../../team/address-words.ts";
import { listTeams } from "../../team/config/config.ts";
import { findTeam } from "../../team/config/find-team.ts";
import { readPlace, readStatus } from "../../team/records/read-records.ts";
import { type Home, teamsHome } from "../../team/ref.ts";
import type { Io } from "../../terminal/io.ts";
import { line, type Output, openOutput, visible } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import { costText } from "../../text/amounts.ts";
import { cutToWidth, displayWidth } from "../../text/cell-width.ts";
import { operand } from "../../text/shell-quote.ts";

/** A command to type next, and why. */
interface NextStep {
  readonly command: string;
  readonly why: string;
}

/** Maximum requests and stopped teams that are listed. */
const MAX_LISTED = 5;
/** With fewer cells, a reason is left out. */
const MIN_REASON = 16;
/** A reason is cut to this many cells. */
const MAX_REASON = 80;

/** Prints what to do next from here: the waiting requests, the running teams, what is missing, and how to start a team. */
export async function printNextSteps(io: Io, { json }: { readonly json: boolean }): Promise<number> {
  const out = openOutput(io, { json, quiet: false, verbose: false });
  const home = teamsHome(io.env);
  const teams = listTeams(home)
    .filter(({ ours }) => ours)
    .map((entry) => ({ entry, team: teamOverview(home, entry) }));
  const running = teams
    .map(({ team }) => team)
    .filter(({ state }) => state === "running" || state === "idle");
  const stopped = stoppedHere(teams, io);
  const missing = missingParts(io, await hasModel(io, home));
  const next = [
    ...answers(running, home, io.env),
    ...visits(running, home, io.env),
    ...continuing(stopped),
    ...starts(missing),
  ];
  const waiting = running.flatMap(({ name: team, requests }) => requests.map((one) => ({ team, ...one })));
  out.answer({ teams: running.map(withoutRequests), waiting, missing, next }, () =>
    [
      headline(running, out),
      ...missing.map(({ text }) => line`${out.styleText(text, "attention")}`),
      steps(next, out),
    ]
      .filter((part) => part !== "")
      .join("\n\n"),
  );
  return EXIT.done;
}

function withoutRequests({ requests: _, ...team }: TeamOverview): Omit<TeamOverview, "requests"> {
  return team;
}

function headline(running: readonly TeamOverview[], out: Output): string {
  if (running.length === 0) return "teams runs teams of coding agents in tmux. No team is running.";
  const rows = running.map(({ name, state, members, waiting, costUsd }) => [
    name,
    out.styleText(state, ...(state === "running" ? (["good"] as const) : [])),
    members.filter((member) => member !== LEAD_NAME).join(", "),
    waiting === 0 ? "" : out.styleText(`${waiting} ${waiting === 1 ? "waits" : "wait"}`, "bold", "attention"),
    costText(costUsd),
  ]);
  return table(["TEAM", "STATE", "TEAMMATES", "", ""], rows, { columns: out.columns });
}

/** Returns one row for each command. A command is never cut: only its reason is left out or cut in a narrow terminal. */
function steps(next: readonly NextStep[], { styleText, columns = Number.POSITIVE_INFINITY }: Output): string {
  const longest = Math.max(...next.map(({ command }) => displayWidth(command)));
  const rows = next.map(({ command, why }) => {
    const left = line`  ${styleText(command, "bold")}`;
    const gap = " ".repeat(Math.max(0, longest - displayWidth(command)) + 2);
    const room = columns - longest - 5;
    const reason = room < MIN_REASON ? "" : cutToWidth(visible(why), Math.min(room, MAX_REASON));
    return reason === "" ? left : `${left}${gap}${styleText(reason, "quiet").styled}`;
  });
  return ["Next:", ...rows].join("\n");
}

/** The oldest request of each member that asks. */
function answers(running: readonly TeamOverview[], home: Home, env: Env): readonly NextStep[] {
  const waiting = running.flatMap(({ name: team, requests }) => requests.map((one) => ({ team, ...one })));
  const oldest = [...waiting].sort((a, b) => a.at - b.at);
  return oldest
    .filter((one, at) => oldest.findIndex(({ team, from }) => team === one.team && from === one.from) === at)
    .slice(0, MAX_LISTED)
    .map(({ kind, from, summary, team }) => ({
      command: `teams approvals ${memberWord(findTeam(home, team), from, env)}`,
      why: `${kind} of ${from}: ${summary}`,
    }));
}

function visits(running: readonly TeamOverview[], home: Home, env: Env): readonly NextStep[] {
  const [first, second] = running;
  const name = second === undefined ? "" : " <team>";
  if (first === undefined) return [];
  const why = env.TMUX ? "go to its panes" : "show its panes in this terminal";
  return [
    ...(running.some((team) => mayHavePane(home, team)) ? [{ command: `teams attach${name}`, why }] : []),
    { command: `teams status${name}`, why: "members, tasks and costs" },
  ];
}

/** Whether `teams attach` may find a pane: one of the lead, or of a teammate in a backend with panes. */
function mayHavePane(home: Home, { name: team, members }: TeamOverview): boolean {
  const ref = findTeam(home, team);
  return members.some((name) => {
    if (name === LEAD_NAME) return readStatus(ref, name)?.paneId !== undefined;
    return !PANELESS.has(readPlace(ref, name)?.backend ?? "");
  });
}

const PANELESS: ReadonlySet<string> = new Set(["process", "in-process"]);

/** Returns the stopped team of this directory, as a list. */
function stoppedHere(
  teams: readonly { readonly entry: Parameters<typeof nearbyTeam>[0][number]; readonly team: TeamOverview }[],
  { env }: Io,
): readonly TeamOverview[] {
  const stopped = teams.filter(({ team }) => team.state === "stopped" && team.members.length > 1);
  const nearby = nearbyTeam(
    stopped.map(({ entry }) => entry),
    env,
    {},
  );
  return "team" in nearby ? stopped.filter(({ entry }) => entry === nearby.team).map(({ team }) => team) : [];
}

function continuing(stopped: readonly TeamOverview[]): readonly NextStep[] {
  return stopped.map(({ name }) => ({
    command: `teams resume ${operand(name)}`,
    why: "continue the team of this directory",
  }));
}

function starts(missing: readonly Missing[]): readonly NextStep[] {
  const isModelSetUp = missing.every(({ part }) => part !== "model");
  return [
    isModelSetUp
      ? { command: 'teams run "<goal>"', why: "a lead works on a goal here, with teammates in panes" }
      : { command: "teams run", why: "watch the built-in audit of this directory; it needs no key" },
    { command: `teams create <name>`, why: "lead a team by hand" },
    ...(missing.length === 0 ? [] : [{ command: "teams doctor", why: "what is missing, and how to get it" }]),
    { command: "teams --help", why: "all commands" },
  ];
}

interface Missing {
  readonly part: "tmux" | "model";
  readonly text: string;
}

/** Whether the environment or the settings name a model's key or server. */
async function hasModel(io: Pick<Io, "env" | "cwd">, { root }: Home): Promise<boolean> {
  const { settingsEnv } = await import("../../settings/settings-env.ts");
  return defaultModelName({ ...io.env, ...settingsEnv(root, io.cwd) }) !== SCRIPTED;
}

function missingParts({ env }: Io, isModelSetUp: boolean): readonly Missing[] {
  return [
    ...(findProgram("tmux", env) === undefined
      ? [
          {
            part: "tmux" as const,
            text: "tmux is not installed: teammates run without panes. Install tmux 3.2 or newer.",
          },
        ]
      : []),
    ...(isModelSetUp
      ? []
      : [
          {
            part: "model" as const,
            text: `No model is set up: agents play a script. Set ANTHROPIC_API_KEY.${withoutKey(env)}`,
          },
        ]),
  ];
}

/**
 * Names what an installed CLI can do without a key. With its own screen, claude can only be a teammate; with its ACP adapter,
 * it can lead.
 */
function withoutKey(env: Env): string {
  const has = (program: string): boolean => findProgram(program, env) !== undefined;
  if (has("codex")) return ' Or let codex lead: teams run --cli codex "<goal>"';
  if (has("claude-agent-acp")) return ' Or let claude lead: teams run --cli claude --acp "<goal>"';
  if (!has("claude")) return "";
  return " Or lead claude by hand: teams create <name>, then teams spawn <agent> --cli claude";
}
