import { expectedDialog } from "../../adapter/inbox/claude-dialogs.ts";
import { CODEX } from "../../adapter/keys/adopted-channel.ts";
import { TeamError } from "../../errors.ts";
import { findProgram } from "../../os/files/access.ts";
import { isDirectory, isOwnEntry } from "../../os/files/fs.ts";
import { livenessOf } from "../../os/process/identity.ts";
import type { TeamConfig, TeamMember } from "../../schema/config.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { listTeams, readTeam } from "../../team/config/config.ts";
import { findForeignProcesses } from "../../team/members/foreign-process.ts";
import { addMembers } from "../../team/members/members.ts";
import { readStatus } from "../../team/records/read-records.ts";
import { operand } from "../../text/shell-quote.ts";
import { type OperationContext, requireLead } from "../context.ts";
import { type SpawnOptions, spawnTeammates } from "../spawn/spawn.ts";
import { codexThread, isCodex } from "./codex-thread.ts";
import { adoptionRefused, LIST_PANES, type PaneProgram } from "./pane-program.ts";

export interface AdoptInput {
  /** By default the name of the program, with a number if that is taken. */
  readonly name?: string | undefined;
  /** An adapter whose `prompt` and `interruptKey` apply. */
  readonly cli?: string | undefined;
  /** The program itself ran the command, so its session has begun. */
  readonly isAsking?: boolean;
}

export interface AdoptedMember {
  readonly name: string;
  readonly program: string;
  readonly pid: number;
  readonly paneId: string;
  /** How it gets messages: it reads its `inbox` itself, `codex queue` delivers them, or they are typed (`keys`). */
  readonly delivery: "inbox" | "codex queue" | "keys";
  /** Why a better delivery was not possible; null if this is the best one. */
  readonly note: string | null;
}

/**
 * Makes the program of a person's pane a member of the team. The pane stays the person's: nothing in it is started, moved or ended.
 * @throws TeamError NOT_LEAD; PERMISSION_DENIED if a sandbox is required, or if another user owns the team's files; INVALID_INPUT
 * for a program that is already a member or leads this team; the errors of a spawn. Nothing was adopted then.
 */
export async function adoptProgram(
  ctx: OperationContext,
  found: PaneProgram,
  { name, cli, isAsking = false }: AdoptInput,
  options: SpawnOptions,
): Promise<AdoptedMember> {
  requireLead(ctx, "adopt a program");
  requireOwnTeam(ctx);
  if (options.sandbox === "required") {
    throw new TeamError(
      "PERMISSION_DENIED",
      'teams.sandbox.mode is "required", and a running program cannot be put into the sandbox; nothing was adopted.',
      { hint: "Start it as a member: teams spawn <name> --cli <cli>" },
    );
  }
  const config = readTeam(ctx.ref);
  requireFree(ctx, config, found);
  const { startedWith, table, cwd, ...program } = found;
  const known = { program: found.program, pid: found.process.pid, paneId: found.pane.paneId };
  const peer = await adoptClaudeTeammate(ctx, config, found);
  if (peer !== undefined) return { name: peer, ...known, delivery: "inbox", note: null };
  if (!isAsking) refuseStartDialog(found);
  const thread = cli === undefined && isCodex(found) ? codexThread(found) : undefined;
  const canQueue = thread !== undefined && findProgram(CODEX, ctx.env) !== undefined;
  const adopted = { ...program, ...(canQueue ? { thread } : {}) };
  const [spawned] = await spawnTeammates(
    ctx,
    [
      {
        name: name ?? memberName(found.program),
        unique: name === undefined,
        cli: cli ?? found.program,
        adopted,
        ...(isDirectory(cwd) ? { cwd } : {}),
      },
    ],
    {
      ...options,
      mode: "process",
      // The program is already running, so there is no CLI to check.
      checkCli: () => ({ ownScreen: false, ownInbox: false, typed: true }),
    },
  );
  if (spawned === undefined) throw new Error("A spawn without a failure has no result.");
  const isQueued = adopted.thread !== undefined;
  return {
    name: spawned.name,
    ...known,
    delivery: isQueued ? "codex queue" : "keys",
    note: isQueued ? null : noteOf(found, cli, thread !== undefined),
  };
}

/** Variables that decide whether claude shows a startup dialog: the directory of its config, and an API key. */
const CLAUDE_VARIABLES = ["CLAUDE_CONFIG_DIR", "HOME", "ANTHROPIC_API_KEY"];

/**
 * Refuses a claude that, according to its config, may show a startup dialog: a typed message could answer the dialog.
 * @throws TeamError INVALID_INPUT
 */
function refuseStartDialog({ program, startedWith, cwd, pane }: PaneProgram): void {
  if (program !== "claude") return;
  const env = Object.fromEntries(CLAUDE_VARIABLES.map((name) => [name, startedWith.env(name)]));
  const words = startedWith.words.join(" ");
  const bypasses = /--dangerously-skip-permissions|--permission-mode[= ]bypassPermissions/.test(words);
  const dialog = expectedDialog(env, cwd, bypasses ? "bypassPermissions" : "default");
  if (dialog === undefined) return;
  throw adoptionRefused(
    `The claude in pane ${pane.paneId} may show ${dialog.name}, which a message could answer`,
    `Answer the dialog in the pane: ${dialog.remedy}. Then adopt the pane again, or run teams join in claude's input.`,
  );
}

/**
 * Requires that the team's files belong to this user: their owner could read the program's messages and type into it.
 * @throws TeamError PERMISSION_DENIED
 */
function requireOwnTeam({ ref }: OperationContext): void {
  if (isOwnEntry(ref.paths.dir)) return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `The files of team ${ref.team} belong to another user; nothing was adopted.`,
    { hint: "Create another team: teams create <name>" },
  );
}

function noteOf(found: PaneProgram, cli: string | undefined, hasThread: boolean): string | null {
  if (!isCodex(found) || cli !== undefined) return null;
  return hasThread
    ? "codex is not on the PATH, so its messages are typed."
    : "No thread is proven to belong to this codex, so its messages are typed. It may not have had a turn yet, or other Codex programs may be running. To retry after a turn: teams kill <name>, then teams adopt <pane>.";
}

/** Derives a member's name from the name of a program. */
function memberName(program: string): string {
  const plain = program
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain === "" || plain === LEAD_NAME ? "member" : plain;
}

/** @throws TeamError INVALID_INPUT for a program that leads this team, or is a member of any team */
function requireFree(
  { home, ref }: OperationContext,
  config: TeamConfig,
  { process, pane }: PaneProgram,
): void {
  const lead = readStatus(ref, LEAD_NAME);
  // Pane ids are unique only within one tmux server.
  if (
    lead?.paneId === pane.paneId &&
    (lead.server ?? pane.server).pid === pane.server.pid &&
    livenessOf(lead.process) === "alive"
  )
    throw adoptionRefused(`Pane ${pane.paneId} is the lead's`, LIST_PANES);
  const teams = [
    config,
    ...listTeams(home).flatMap((one) => (one.ours && one.config !== undefined ? [one.config] : [])),
  ];
  for (const { name: team, members } of teams) {
    const holder = members.find((member) => isProgramOf(member, process));
    if (holder === undefined) continue;
    throw adoptionRefused(
      `This program is already member ${holder.name} of team ${team}`,
      `Send it a message: teams send ${operand(`${holder.name}@${team}`)} "…"`,
    );
  }
}

function isProgramOf(member: TeamMember, { pid, procStart }: PaneProgram["process"]): boolean {
  const own = readMetadata(member, "adopted")?.process;
  return own?.pid === pid && own.procStart === procStart;
}

/**
 * Adopts a claude that a person started as a teammate of this team. It reads its inbox itself, so it needs only an entry in the
 * config.
 * @returns its name; undefined for any other program
 * @throws TeamError INVALID_INPUT for a claude of another team
 */
async function adoptClaudeTeammate(
  ctx: OperationContext,
  config: TeamConfig,
  { startedWith, process, pane, cwd, table }: PaneProgram,
): Promise<string | undefined> {
  const { words } = startedWith;
  const option = (flag: string): string | undefined =>
    words.includes(flag) ? words[words.indexOf(flag) + 1] : undefined;
  if (!words.includes("--agent-name") || !words.includes("--team-name")) return undefined;
  const name = option("--agent-name") ?? "";
  const agentId = option("--agent-id") ?? "";
  const view = { table, inspect: (pid: number) => (pid === process.pid ? startedWith : undefined) };
  const joined = config.members.find((member) => member.name === name);
  const candidate = joined ?? {
    name,
    agentId,
    cwd,
    joinedAt: ctx.clock.now(),
    tmuxPaneId: pane.paneId,
    subscriptions: [],
  };
  const proven = findForeignProcesses(ctx.ref.home.root, config, candidate as TeamMember, view);
  if (!proven.some((one) => one.process.pid === process.pid)) {
    throw new TeamError(
      "INVALID_INPUT",
      `This program was started as ${name}@${option("--team-name")}, and is not proven to belong to team ${ctx.ref.team}; nothing was adopted.`,
      { hint: "Start it for this team, or without --agent-name, and adopt it again." },
    );
  }
  if (joined === undefined)
    await addMembers(ctx.ref, [
      {
        name,
        cwd,
        backendType: "tmux",
        tmuxPaneId: pane.paneId,
        agentType: "general-purpose",
        model: "claude",
      },
    ]);
  return name;
}
