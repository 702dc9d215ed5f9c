import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Agent } from "../../src/agent/agent.ts";
import { outputDirectory } from "../../src/agent/background/output-file.ts";
import type { AgentEvent } from "../../src/agent/events.ts";
import type { ConversationMessage, Model } from "../../src/agent/model/model.ts";
import { scriptedModel } from "../../src/agent/playbook/scripted-model.ts";
import { type AgentType, agentTypeOrGeneral } from "../../src/agent/prompts/agent-types.ts";
import { openNotes } from "../../src/agent/prompts/type-notes.ts";
import type { OperationContext } from "../../src/operations/context.ts";
import { systemClock } from "../../src/os/clock.ts";
import type { Env } from "../../src/os/env.ts";
import { ownIdentity } from "../../src/os/process/identity.ts";
import { assembleAgent } from "../../src/runtime/agent/assemble-agent.ts";
import { openBackends } from "../../src/runtime/backends.ts";
import { openWorkerBell } from "../../src/runtime/worker-bell.ts";
import { LEAD_NAME } from "../../src/schema/names.ts";
import type { PermissionMode } from "../../src/schema/permission-modes.ts";
import type { Turn } from "../../src/schema/playbook.ts";
import type { LiveSettings } from "../../src/settings/live-settings.ts";
import { settingsSchema } from "../../src/settings/settings-schema.ts";
import { readStatus } from "../../src/team/records/read-records.ts";
import type { TeamRef } from "../../src/team/ref.ts";
import type { WorkerEnd } from "../../src/worker/lifecycle.ts";
import { createStatusKeeper } from "../../src/worker/status-record.ts";
import type { WorkerView } from "../../src/worker/view.ts";
import { Worker, type WorkerOptions } from "../../src/worker/worker.ts";

export interface WorkerInput {
  readonly name?: string;
  /** What its model plays. */
  readonly turns?: readonly Turn[];
  /** What those of its subagents play, by the name of their type. */
  readonly subagents?: Readonly<Record<string, readonly Turn[]>>;
  /** Instead of one that plays. */
  readonly model?: Model;
  readonly role?: "teammate" | "lead";
  readonly mode?: PermissionMode;
  readonly modeAfterPlan?: PermissionMode;
  readonly sessionId?: string;
  readonly agentType?: string;
  /** The types that count; the built-in ones without them. */
  readonly types?: readonly AgentType[];
  readonly color?: string;
  /** Stands between the worker and what it is given. */
  readonly wrap?: (options: WorkerOptions) => WorkerOptions;
  /** Told of everything that its pane would show. */
  readonly shown?: (line: string) => void;
  readonly env?: Env;
  /** As a settings file has them. */
  readonly settings?: object;
  /** Those of files, which may change. */
  readonly liveSettings?: LiveSettings;
  /** As a command line has them. */
  /** Whether nobody can be asked, as in a run without a terminal: so it is if not given. */
  readonly alone?: boolean;
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** The working directory of its tools; one of its own in the root without it. */
  readonly cwd?: string;
}

/** A worker at work in this process, with a real conversation, inbox and bell, and a scripted model. */
export interface RunningWorker {
  readonly worker: Worker;
  readonly ctx: OperationContext;
  readonly cwd: string;
  /** Its conversation, once it has had a turn. */
  readonly messages: readonly ConversationMessage[];
  /** What each turn read, in order. */
  readonly inputs: readonly string[];
  /** What its pane showed: `received ada: hi`, `idle`, `error: …`. */
  readonly shown: readonly string[];
  readonly ended: Promise<WorkerEnd>;
  /** Ends it as its process does at this signal. */
  stop(signal?: NodeJS.Signals): Promise<WorkerEnd>;
}

/** The context of an operation in this team, in the name of `actor`; teammates would run the built program. */
export function contextOf(
  ref: TeamRef,
  actor: string = LEAD_NAME,
  more: Partial<OperationContext> = {},
): OperationContext {
  const env = {
    PATH: process.env.PATH,
    HOME: dirname(ref.home.root),
    SHELL: "/bin/sh",
    TEAMS_HOME: ref.home.root,
    ...more.env,
  };
  return {
    home: ref.home,
    ref,
    actor,
    clock: systemClock,
    cwd: dirname(ref.home.root),
    backends: openBackends(env),
    program: [process.execPath, join(process.cwd(), "dist", "teams.cjs")],
    ...more,
    env,
  };
}

export async function startWorker(ref: TeamRef, input: WorkerInput = {}): Promise<RunningWorker> {
  const {
    name = "dev",
    role = "teammate",
    mode = "bypassPermissions",
    sessionId = `session-${name}`,
  } = input;
  const cwd = input.cwd ?? join(dirname(ref.home.root), `work-${name}`);
  mkdirSync(cwd, { recursive: true });
  const ctx = contextOf(ref, name, { cwd, ...(input.env === undefined ? {} : { env: input.env }) });
  const problem = (error: unknown): void => show(`error: ${String(error)}`);
  const bell = await openWorkerBell(ref, name, { problem });
  const transcript = join(ref.home.root, "teams-sessions", `${sessionId}.jsonl`);
  const facts = {
    sessionId,
    transcript,
    process: ownIdentity(),
    instance: `instance-${name}`,
    bell: ref.paths.agent(name).bell,
    lifeline: ref.paths.agent(name).lifeline,
  };
  const shown: string[] = [];
  const show = (line: string): void => {
    shown.push(line);
    input.shown?.(line);
  };
  const stopping = new AbortController();
  let agent: Agent | undefined;
  const options: WorkerOptions = {
    ref,
    name,
    color: input.color,
    role,
    mode,
    modeAfterPlan: input.modeAfterPlan ?? mode,
    planFile: join(ref.home.root, "plans", `${name}.md`),
    transcript,
    bell,
    status: createStatusKeeper(ref, name, facts, readStatus(ref, name), systemClock),
    view: viewOf(show),
    clock: systemClock,
    signal: stopping.signal,
    agent: async (worker) => {
      const lists = Object.entries({ ...input.subagents, [name]: input.turns ?? [] });
      const agents = Object.fromEntries(lists.map(([list, turns]) => [list, [...turns]]));
      const playbook = { version: 1 as const, agents };
      const settings = { ...settingsSchema.parse(input.settings ?? {}), ignored: [] };
      const modelFor = async (played: string): Promise<Model> =>
        input.model ?? scriptedModel({ playbook, agent: played, cwd, env: ctx.env, speed: 4 });
      const agentType = input.agentType ?? "general-purpose";
      const notes = openNotes(agentTypeOrGeneral(agentType, input.types), ref.home.root, cwd, () => false);
      agent = assembleAgent({
        ctx,
        worker,
        role,
        model: await modelFor(name),
        modelFor,
        agentType,
        ...(input.types === undefined ? {} : { types: input.types }),
        notes: notes !== undefined && "directory" in notes ? notes : undefined,
        sessionId,
        settings: input.liveSettings ?? (() => settings),
        spawn: { mode: "process" },
        alone: input.alone ?? true,
        tools: input.tools,
        disallowedTools: input.disallowedTools,
      });
      return agent;
    },
  };
  const worker = new Worker(input.wrap?.(options) ?? options);
  const ended = worker.run();
  // A test that looks at the end sees a failure there; one that does not has no use for it.
  ended
    .catch(() => undefined)
    .then(() => rmSync(dirname(outputDirectory(cwd)), { recursive: true, force: true }));
  return {
    worker,
    ctx,
    cwd,
    shown,
    ended,
    get messages() {
      return agent?.messages ?? [];
    },
    get inputs() {
      return (agent?.messages ?? []).flatMap((message) => {
        if (message.role !== "user" || message.origin === undefined) return [];
        return message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
      });
    },
    stop(signal = "SIGTERM") {
      stopping.abort(signal);
      return ended;
    },
  };
}

function viewOf(show: (line: string) => void): WorkerView {
  return {
    event: (event) => show(eventLine(event)),
    received: (from, text) => show(`received ${from}: ${text}`),
    queued: (from) => show(`queued ${from}`),
    typed: (line) => show(`typed: ${line}`),
    idle: () => show("idle"),
    waiting: (what) => show(`waiting: ${what}`),
    permission: ({ id, tool, summary, whose, rules, change }) => {
      show(`permission ${id}: ${whose === undefined ? "" : `${whose}: `}${tool}(${summary})`);
      for (const line of change) show(`change: ${line}`);
      show(`always: ${rules.join(", ")}`);
    },
    note: (text) => show(`note: ${text}`),
    error: (text) => show(`error: ${text}`),
  };
}

function eventLine(event: AgentEvent): string {
  if (event.type === "tool_started") return `tool ${event.tool}(${event.summary})`;
  if (event.type === "tool_ended") return `ended ${event.tool}: ${event.content}`;
  if (event.type === "hook") return `hook ${event.event}: ${event.text}`;
  return event.type;
}
