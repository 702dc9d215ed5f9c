import { type Adapter, hasOwnScreen, isTyped } from "../../adapter/adapter-schema.ts";
import { ChannelAgent } from "../../adapter/channel-agent.ts";
import { checkVersion } from "../../adapter/installed/version-check.ts";
import { channelOf } from "../../adapter/open-channel.ts";
import type { Agent } from "../../agent/agent.ts";
import { openTranscript } from "../../agent/conversation/transcript.ts";
import { agentTypeOrGeneral } from "../../agent/prompts/agent-types.ts";
import type { AgentSandbox } from "../../agent/sandbox/agent-sandbox.ts";
import { messageOf, TeamError } from "../../errors.ts";
import type { AgentFlags } from "../../launch/agent-flags.ts";
import type { OperationContext } from "../../operations/context.ts";
import type { Env } from "../../os/env.ts";
import type { SocketDirectory } from "../../os/net/local-server.ts";
import { INSTANCE_VARIABLE } from "../../os/process/process-tree.ts";
import { secretsOf } from "../../os/redact.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME, SYSTEM_NAME } from "../../schema/names.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import { trustDecision } from "../../settings/trust.ts";
import { readTeam } from "../../team/config/config.ts";
import { sendMessage } from "../../team/mailbox/send.ts";
import { changeMetadata, findMember } from "../../team/members/members.ts";
import { recordAdopted } from "../../team/members/record-adopted.ts";
import { TeamRoster } from "../../worker/prompts/roster.ts";
import { cliSection, teammateSection, typedSection } from "../../worker/prompts/team-sections.ts";
import type { Worker } from "../../worker/worker.ts";
import { agentHooks } from "../agent/agent-hooks.ts";
import { memberNames } from "../agent/agent-prompt.ts";
import { agentEnv, agentPermissions } from "../agent/agent-rights.ts";
import type { openAgentType } from "../agent/load-agent-types.ts";
import { ownPlace } from "../own-process-record.ts";
import { accountLimits } from "./account-limits.ts";
import { type LeadTools, serveTeamTools } from "./serve-team-tools.ts";

export interface CliParts {
  readonly ctx: OperationContext;
  readonly worker: Worker;
  readonly flags: Pick<AgentFlags, "addDirs" | "allowedTools" | "agentType" | "model">;
  /** Undefined for a teammate. */
  readonly lead?: CliLead | undefined;
  readonly sessionId: string;
  readonly settings: LiveSettings;
  readonly type: Pick<Awaited<ReturnType<typeof openAgentType>>, "types">;
  readonly denials: readonly string[];
  readonly sandbox: AgentSandbox | undefined;
  /** Where the CLI reaches the team's tools. */
  readonly socket: SocketDirectory;
  /** Receives functions that close the parts at the end of the teammate. */
  readonly ends: (() => Promise<void>)[];
  /** Ends the teammate from outside. */
  readonly signal: AbortSignal;
  readonly note: (line: string) => void;
}

/** Additions for a CLI as the lead. */
interface CliLead extends LeadTools {
  /** The beginning of its first message: its role, and its team. */
  instructions(roster: TeamRoster): string;
  /** Called when a person begins a turn in its own screen. */
  readonly onOwnTurn: () => void;
  /** Called when a person has quit the CLI in its own screen. */
  readonly onQuit: () => void;
}

/**
 * Starts a third-party CLI as the agent of a worker: its turns run in the CLI, everything else is the worker's.
 * @throws TeamError SPAWN_FAILED, INVALID_INPUT; INTERRUPTED if the signal aborts before the CLI starts
 */
export async function assembleCli(adapter: Adapter, parts: CliParts): Promise<Agent> {
  const { ctx, worker, flags, sessionId, settings, lead, note } = parts;
  const role: "teammate" | "lead" = lead === undefined ? "teammate" : "lead";
  const own = { ctx, worker, sessionId, settings, role };
  const { addDirs, allowedTools } = flags;
  const env = agentEnv(own);
  const roster = new TeamRoster(() => memberNames(ctx).filter((name) => name !== worker.name));
  worker.roster = roster;
  const permissions = agentPermissions({ ...own, addDirs, allowedTools }, parts.denials);
  const hooks = agentHooks({ ...own, sandbox: parts.sandbox, agentType: flags.agentType }, env);
  const served = {
    ctx,
    worker,
    env,
    hooks,
    permissions,
    types: parts.type.types,
    role,
    led: lead,
    socket: parts.socket,
    note,
  };
  const { server, listed, close } = await serveTeamTools(served);
  parts.ends.push(async () => close());
  const agent = new ChannelAgent({
    cli: adapter.id,
    transcript: openTranscript(transcriptPath(ctx.home.root, sessionId), {
      sessionId,
      secrets: secretsOf(ctx.env),
    }),
    cwd: ctx.cwd,
    env,
    sandbox: parts.sandbox,
    permissions,
    hooks,
    instructions: () => lead?.instructions(roster) ?? instructionsOf(parts, roster, isTyped(adapter.channel)),
    onEvent: (event) => worker.onEvent(event),
    onInputRecorded: (keys) => worker.onInputRecorded(keys),
    onInputKept: () => worker.onInputKept(),
    beforeTurn: (signal) => worker.budget.beforeCall(signal),
    exceedsBudget: () => worker.budget.stopsTurn(),
    limits: await accountLimits(adapter, { worker, env, model: flags.model, settings }),
    onOwnTurn: (follow) => {
      lead?.onOwnTurn();
      worker.observeTurn(follow);
    },
    hidesTurnEnds: isTyped(adapter.channel),
    onAlert: (text) => worker.reportAlert(text),
    askQuestion: (question, signal) => worker.cliQuestions.ask(question, signal),
    onDialog: (dialog) =>
      worker.setDialog(dialog && `${dialog.name}: ${dialog.remedy}`, dialog?.isStart === true),
    onWithoutTools: (remedy) => reportWithoutTools(parts, adapter, remedy),
    onEnd: (error) => {
      if (error !== undefined) worker.agentEnded(error);
      else if (lead === undefined) worker.finish();
      else lead.onQuit();
    },
    note,
  });
  if (isTyped(adapter.channel)) {
    const { followHooks } = await import("./follow-hooks.ts");
    const unfollow = followHooks(
      ctx.ref,
      worker.name,
      (words) => agent.alerted(words),
      (error) => note(messageOf(error)),
    );
    parts.ends.push(async () => unfollow());
  }
  const openChannel = await channelOf(adapter.channel);
  const { model } = flags;
  const member = findMember(readTeam(ctx.ref), worker.name);
  const adopted = readMetadata(member, "adopted");
  const setup = {
    adapter,
    cwd: ctx.cwd,
    env: trustDecision(ctx.home.root, ctx.cwd) === true ? { ...env, ...adapter.trustedEnv } : env,
    addDirs: addDirs ?? [],
    model: model === adapter.id ? undefined : model,
    effort: readMetadata(member, "effort"),
    mode: () => worker.planApproval.mode,
    servers: [server],
    sandbox: parts.sandbox,
    toolsListed: listed,
    directory: parts.socket.directory,
    place: placeHere(ctx.env),
    typing: ctx.ref.paths.agent(worker.name).typing,
    outputCopy: ctx.ref.paths.agent(worker.name).outputCopy,
    adopted,
  };
  if (adopted !== undefined) {
    const forget = recordAdopted(ctx.ref, worker.name, adopted.process);
    parts.ends.push(async () => forget());
  } else await checkVersion({ ...setup, signal: parts.signal, note });
  const before = readMetadata(member, "conversation");
  // The end of the process must not leave the CLI behind, even while it starts.
  const end = (): void => {
    agent.end().catch((error: unknown) => note(messageOf(error)));
  };
  parts.signal.addEventListener("abort", end, { once: true });
  if (parts.signal.aborted)
    throw new TeamError("INTERRUPTED", `${adapter.id} was not started: ${worker.name} is ending.`);
  // A startup dialog may be open before the channel knows it.
  const mayAsk = hasOwnScreen(adapter.channel) && !isTyped(adapter.channel);
  if (mayAsk) worker.setDialog(undefined, true);
  const conversation = await agent.start((events) => openChannel(setup, events), before);
  if (mayAsk) worker.setDialog(undefined);
  if (conversation !== before) {
    // The CLI runs already, and works without the record.
    await changeMetadata(ctx.ref, worker.name, { conversation }).catch((error: unknown) =>
      note(
        `the conversation of ${adapter.id} was not recorded, so a restart begins a new one: ${messageOf(error)}`,
      ),
    );
  }
  return agent;
}

/** Shows in its pane, and notifies the lead, that the CLI works without the team's tools. */
function reportWithoutTools({ ctx, worker, lead, note }: CliParts, { id }: Adapter, remedy: string): void {
  const what = `${id} has not connected to the team's tools, so it works without them. To fix this: ${remedy}.`;
  note(what);
  if (lead !== undefined) return;
  const text = `${worker.name} cannot use the team's tools. ${what}`;
  sendMessage(ctx.ref, { from: SYSTEM_NAME, to: LEAD_NAME, text }).catch((error: unknown) =>
    note(messageOf(error)),
  );
}

/** Returns the tmux pane in which this process was started. */
function placeHere(env: Env): PlaceRecord | undefined {
  const own = ownPlace(env);
  const instance = env[INSTANCE_VARIABLE];
  return own.paneId === undefined || instance === undefined
    ? undefined
    : { ...own, instance, backend: "tmux", spawnedAt: 0 };
}

/** Returns the text before the CLI's first message: the CLI has its own system prompt. */
function instructionsOf({ ctx, worker, flags, type }: CliParts, roster: TeamRoster, typed: boolean): string {
  const member = findMember(readTeam(ctx.ref), worker.name);
  const { mode, planFile } = worker.planApproval;
  const { prompt, custom = prompt } = agentTypeOrGeneral(flags.agentType, type.types);
  const facts = {
    name: worker.name,
    team: ctx.ref.team,
    others: roster.names,
    configFile: ctx.ref.paths.config,
    taskDirectory: ctx.ref.paths.tasks,
    planFile: mode === "plan" ? planFile : undefined,
  };
  const team = typed
    ? [typedSection(facts, readMetadata(member, "adopted") !== undefined)]
    : [teammateSection(facts), cliSection()];
  return [custom, ...team, readMetadata(member, "promptOverrides")?.append ?? ""]
    .filter((part) => part !== "")
    .join("\n\n");
}
