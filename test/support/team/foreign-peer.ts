import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { OperationContext } from "../../../src/operations/context.ts";
import { identityOf } from "../../../src/os/process/identity.ts";
import { processTable } from "../../../src/os/process/process-table.ts";
import { runtimeOfRoot } from "../../../src/protocol/paths.ts";
import type { TeamMember } from "../../../src/schema/config.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { ProcessIdentity } from "../../../src/schema/process-identity.ts";
import { readTeam, updateTeam } from "../../../src/team/config/config.ts";
import { createTeamFiles } from "../../../src/team/config/create-files.ts";
import { addMembers, findMember } from "../../../src/team/members/members.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import { shellWord } from "../../../src/text/shell-quote.ts";
import { eventually } from "../timing/eventually.ts";
import type { PrivateTmux } from "../tmux/private-tmux.ts";
import { reconcileContext } from "./reconcile-context.ts";

const PROGRAM = fileURLToPath(new URL("../../fixtures/agents/foreign-claude.mjs", import.meta.url));

export const LEAD_SESSION = "5f0e2a6e-0000-4000-8000-000000000000";

/** Creates a team in the home of a private tmux. */
export function teamInTmuxHome(t: PrivateTmux, name = "crew"): Promise<TeamRef> {
  const home = { root: t.root, runtime: runtimeOfRoot(join(t.runtime, "teams"), t.root) };
  return createTeamFiles(home, { name, leadSessionId: LEAD_SESSION, leadCwd: "/", now: 1_000 });
}

/** A member that a person has added to the config, and started in a shell. */
export interface ForeignPeer {
  readonly pane: string;
  readonly process: ProcessIdentity;
  member(): TeamMember;
  /** Returns the visible text of its pane. */
  shows(): string;
}

interface PeerOptions {
  /** Its command line shows only a title. */
  readonly erases?: boolean;
  /** It is installed as the package of claude in this version. */
  readonly version?: string;
  /** Arguments that replace those of a teammate. */
  readonly words?: readonly string[];
  /** Variables that replace those of a teammate. */
  readonly env?: Readonly<Record<string, string>>;
  /** The `tmuxPaneId` in the config, instead of its pane. */
  readonly recorded?: string;
}

/** Adds a foreign member to the config, as a person does by hand. */
export async function joinByHand(
  ref: TeamRef,
  name: string,
  fields: Partial<TeamMember> = {},
): Promise<TeamMember> {
  await addMembers(ref, [{ name, cwd: "/", agentType: "general-purpose" }]);
  await updateTeam(ref, (config) => ({
    ...config,
    members: config.members.map((one) => (one.name === name ? { ...one, ...fields } : one)),
  }));
  return findMember(readTeam(ref), name);
}

/** Returns the arguments with which a lead starts a teammate. */
export function teammateArguments(ref: TeamRef, name: string): readonly string[] {
  const words = ["--agent-id", `${name}@${ref.team}`, "--agent-name", name, "--team-name", ref.team];
  return [...words, "--agent-color", "blue", "--parent-session-id", LEAD_SESSION, "--model", "sonnet"];
}

/** Starts a stand-in of claude as a member, as a lead does: it types the command line into a shell in a new pane. */
export async function foreignPeer(
  t: PrivateTmux,
  ref: TeamRef,
  name: string,
  { erases = false, version, words = teammateArguments(ref, name), env = {}, recorded }: PeerOptions = {},
): Promise<ForeignPeer> {
  const pane = t.tmux(
    "new-window",
    "-d",
    "-t",
    "=work:",
    "-P",
    "-F",
    "#{pane_id}",
    "--",
    "env",
    "PS1=$ ",
    "sh",
  );
  await joinByHand(ref, name, { tmuxPaneId: recorded ?? pane, backendType: "tmux" });
  const variables = {
    CLAUDECODE: "1",
    CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: "1",
    CLAUDE_CONFIG_DIR: t.root,
    ...(erases && { STAND_IN: "erases" }),
    ...env,
  };
  const line = [
    "env",
    ...Object.entries(variables).map(([key, value]) => `${key}=${value}`),
    process.execPath,
    version === undefined ? PROGRAM : installed(t, version),
    ...words,
  ];
  t.tmux("send-keys", "-t", pane, "-l", line.map(shellWord).join(" "));
  t.tmux("send-keys", "-t", pane, "Enter");
  const shows = (): string => t.tmux("capture-pane", "-p", "-J", "-t", pane);
  await eventually("the start of the stand-in", () => shows().includes("Welcome"));
  const shell = Number(t.tmux("display-message", "-p", "-t", pane, "#{pane_pid}"));
  const own = processTable().find(({ ppid }) => ppid === shell);
  const identity = own && identityOf(own.pid);
  if (identity === undefined) throw new Error("The stand-in is not a child of its shell.");
  return { pane, process: identity, member: () => findMember(readTeam(ref), name), shows };
}

/** Installs the stand-in as a package. @returns its program */
function installed(t: PrivateTmux, version: string): string {
  const directory = join(t.home, "node_modules", "@anthropic-ai", "claude-code");
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, "package.json"),
    JSON.stringify({ name: "@anthropic-ai/claude-code", version }),
  );
  copyFileSync(PROGRAM, join(directory, "cli.mjs"));
  return join(directory, "cli.mjs");
}

/** The context of a lead outside tmux that reconciles foreign members. */
export function contextOutsideTmux(t: PrivateTmux, ref: TeamRef): OperationContext {
  return { ...reconcileContext(ref), env: t.env };
}

/** Appends a message to the lead's inbox as a peer does: without our lock and journal. @param at milliseconds since the epoch */
export function peerSays(ref: TeamRef, from: string, said: string | object, at = Date.now()): void {
  const timestamp = new Date(at).toISOString();
  const text = typeof said === "string" ? said : JSON.stringify({ from, timestamp, ...said });
  const path = ref.paths.inbox(LEAD_NAME);
  const entries = existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as object[]) : [];
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify([...entries, { from, text, timestamp, read: false }]));
}

export const IDLE = { type: "idle_notification", idleReason: "available" };

/** Takes all messages from an inbox as a peer does: claude up to 2.1.150 marks them, newer versions remove them. */
export function peerTakes(ref: TeamRef, name: string, how: "marks" | "removes" = "removes"): void {
  const path = ref.paths.inbox(name);
  const entries = JSON.parse(readFileSync(path, "utf8")) as object[];
  const left = how === "removes" ? [] : entries.map((entry) => ({ ...entry, read: true }));
  writeFileSync(path, JSON.stringify(left));
}
