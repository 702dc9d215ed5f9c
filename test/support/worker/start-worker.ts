import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Agent } from "../../../src/agent/agent.ts";
import { outputDirectory } from "../../../src/agent/background/output-file.ts";
import type { AgentEvent } from "../../../src/agent/events.ts";
import type { ConversationMessage, Model } from "../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../src/agent/playbook/scripted-model.ts";
import { type AgentType, agentTypeOrGeneral } from "../../../src/agent/prompts/agent-types.ts";
import { openNotes } from "../../../src/agent/prompts/type-notes.ts";
import type { OperationContext } from "../../../src/operations/context.ts";
import { systemClock } from "../../../src/os/clock.ts";
import type { Env } from "../../../src/os/env.ts";
import { ownIdentity } from "../../../src/os/process/identity.ts";
import { assembleAgent } from "../../../src/runtime/agent/assemble-agent.ts";
import { modelsOf } from "../../../src/runtime/agent/models.ts";
import { openBackends } from "../../../src/runtime/backends.ts";
import { openWorkerBell } from "../../../src/runtime/worker-bell.ts";
import { LEAD_NAME } from "../../../src/schema/names.ts";
import type { PermissionMode } from "../../../src/schema/permission-modes.ts";
import type { PlaybookTurn } from "../../../src/schema/playbook.ts";
import type { LiveSettings } from "../../../src/settings/live-settings.ts";
import { settingsSchema } from "../../../src/settings/settings-schema.ts";
import { readStatus } from "../../../src/team/records/read-records.ts";
import type { TeamRef } from "../../../src/team/ref.ts";
import type { WorkerEnd } from "../../../src/worker/lifecycle.ts";
import { createStatusKeeper } from "../../../src/worker/status-record.ts";
import type { WorkerView } from "../../../src/worker/view.ts";
import { Worker, type WorkerOptions } from "../../../src/worker/worker.ts";

export interface WorkerInput {
  readonly name?: string;
  /** The playbook of its model. */
  readonly turns?: readonly PlaybookTurn[];
  /** The playbooks of its subagents' models, by agent type. */
  readonly subagents?: Readonly<Record<string, readonly PlaybookTurn[]>>;
  /** Replaces the scripted model. */
  readonly model?: Model;
  /** The server of its model `m`, which then waits for the limits of its account; the key is `key-of-dev` by default. */
  readonly api?: { readonly url: string; readonly key?: string };
  readonly role?: "teammate" | "lead";
  readonly mode?: PermissionMode;
  readonly modeAfterPlan?: PermissionMode;
  readonly sessionId?: string;
  readonly agentType?: string;
  /** The known agent types; the built-in ones by default. */
  readonly types?: readonly AgentType[];
  readonly color?: string;
  /** Changes the options of the worker before it starts. */
  readonly wrap?: (options: WorkerOptions) => WorkerOptions;
  /** Called with each line that its pane would show. */
  readonly shown?: (line: string) => void;
  readonly env?: Env;
  /** Returns the path of the shell snapshot; none by default. */
  readonly snapshot?: () => Promise<string | undefined>;
  /** Settings in the format of a settings file. */
  readonly settings?: object;
  /** Settings of files that may change. */
  readonly liveSettings?: LiveSettings;
  /** True if no user can answer requests, as in a run without a terminal; true by default. */
  readonly alone?: boolean;
  /** In the format of the command line. */
  readonly tools?: readonly string[];
  readonly disallowedTools?: readonly string[];
  /** The working directory of its tools; a private one in the root by default. */
  readonly cwd?: string;
  /** Called when the agent waits for an answer: the reason, who answers, and the id of the request. */
  readonly onWaiting?: WorkerView["waiting"];
}

/** A worker in this process with a real conversation, inbox and bell, and a scripted model. */
export interface RunningWorker {
  readonly worker: Worker;
  readonly ctx: OperationContext;
  readonly cwd: string;
  /** Its conversation, after its first turn. */
  readonly messages: readonly ConversationMessage[];
  /** The input of each turn, in order. */
  readonly inputs: readonly string[];
  /** The lines of its pane: `received ada: hi`, `idle`, `error: …`. */
  readonly shown: readonly string[];
  readonly ended: Promise<WorkerEnd>;
  /** Ends it as its process does on this signal. */
  stop(signal?: NodeJS.Signals): Promise<WorkerEnd>;
}

/** The context of an operation in this team on behalf of `actor`; new teammates run the built program. */
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
  const { api } = input;
  const server = api && {
    ANTHROPIC_BASE_URL: api.url,
    ANTHROPIC_API_KEY: api.key ?? "key-of-dev",
    ANTHROPIC_AUTH_TOKEN: "",
  };
  const ctx = contextOf(ref, name, { cwd, env: { ...input.env, ...server } });
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
    initialMode: mode,
    modeAfterPlan: input.modeAfterPlan ?? mode,
    planFile: join(ref.home.root, "plans", `${name}.md`),
    transcript,
    bell,
    status: createStatusKeeper(ref, name, facts, readStatus(ref, name), systemClock),
    view: viewOf(show, input.onWaiting),
    clock: systemClock,
    signal: stopping.signal,
    createAgent: async (worker) => {
      const lists = Object.entries({ ...input.subagents, [name]: input.turns ?? [] });
      const agents = Object.fromEntries(lists.map(([list, turns]) => [list, [...turns]]));
      const playbook = { version: 1 as const, agents };
      const settings = { ...settingsSchema.parse(input.settings ?? {}), ignored: [], ignoredReason: "" };
      const live = input.liveSettings ?? (() => settings);
      const note = (line: string): void => show(`note: ${line}`);
      const modelFor =
        api === undefined
          ? async (played: string): Promise<Model> =>
              input.model ?? scriptedModel({ playbook, agent: played, cwd, env: ctx.env, speed: 4 })
          : modelsOf("m", ctx, live, { worker, note });
      const agentType = input.agentType ?? "general-purpose";
      const notes = openNotes(agentTypeOrGeneral(agentType, input.types), ref.home.root, cwd, () => false);
      agent = await assembleAgent({
        ctx,
        worker,
        role,
        model: await modelFor(name, undefined),
        modelFor,
        agentType,
        ...(input.types === undefined ? {} : { types: input.types }),
        notes: notes !== undefined && "directory" in notes ? notes : undefined,
        sessionId,
        settings: live,
        spawn: { mode: "process" },
        snapshot: input.snapshot ?? (async () => undefined),
        signal: stopping.signal,
        isUnattended: input.alone ?? true,
        tools: input.tools,
        disallowedTools: input.disallowedTools,
      });
      return agent;
    },
  };
  const worker = new Worker(input.wrap?.(options) ?? options);
  const ended = worker.run();
  // A test that awaits `ended` sees a failure there; the others do not need it.
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

function viewOf(show: (line: string) => void, onWaiting?: WorkerView["waiting"]): WorkerView {
  return {
    event: (event) => show(eventLine(event)),
    received: (from, text) => show(`received ${from}: ${text}`),
    queued: (from) => show(`queued ${from}`),
    saving: (line) => {
      show(`saving: ${line}`);
      return () => show(`saved: ${line}`);
    },
    typed: (line) => show(`typed: ${line}`),
    idle: () => show("idle"),
    waiting: (what, by, request) => {
      show(`waiting: ${what}`);
      onWaiting?.(what, by, request);
    },
    permission: ({ id, tool, summary, subagent: whose, rules, change }) => {
      show(`permission ${id}: ${whose === undefined ? "" : `${whose}: `}${tool}(${summary})`);
      for (const line of change) show(`change: ${line}`);
      show(`always: ${rules.join(", ")}`);
      return true;
    },
    permissionClosed: () => undefined,
    mode: () => undefined,
    note: (text) => show(`note: ${text}`),
    error: (text) => show(`error: ${text}`),
  };
}

function eventLine(event: AgentEvent): string {
  if (event.type === "tool_started") return `tool ${event.tool}(${event.summary})`;
  if (event.type === "tool_ended") return `ended ${event.tool}: ${event.content}`;
  if (event.type === "hook") return `hook ${event.event}: ${event.text}`;
  if (event.type === "damaged") return `damaged: ${event.text}`;
  return event.type;
}
