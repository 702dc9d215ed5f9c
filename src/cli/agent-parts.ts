import { type Agent, createAgent } from "../agent/agent.ts";
import { type HookOptions, Hooks } from "../agent/hooks/hooks.ts";
import type { HookEvent } from "../agent/hooks/settings.ts";
import type { Model } from "../agent/model/model.ts";
import { isAboutAll } from "../agent/permission-rules.ts";
import { agentTypeOf } from "../agent/prompts/agent-types.ts";
import { composeSystem } from "../agent/prompts/compose.ts";
import type { AgentPermissions } from "../agent/tool-calls.ts";
import { outputDirectory } from "../agent/tools/output-file.ts";
import type { AnyTool } from "../agent/tools/tool.ts";
import { openTranscript } from "../agent/transcript.ts";
import { TeamError } from "../errors.ts";
import type { LeadContext } from "../lead/context.ts";
import type { SpawnOptions } from "../lead/spawn.ts";
import type { Env } from "../os/env.ts";
import { secretsOf } from "../os/secrets.ts";
import { transcriptPath } from "../protocol/paths.ts";
import { agentId, agentName } from "../schema/names.ts";
import { readTeam } from "../team/config.ts";
import type { TeamToolContext } from "../team-tools/context.ts";
import { teamTools } from "../team-tools/registry.ts";
import { leadSection, type TeamFacts, teammateSection } from "../worker/prompts.ts";
import { RestGate } from "../worker/rest-gate.ts";
import { teamNews } from "../worker/team-news.ts";
import { RECORDING } from "./recording.ts";
import { bypassForbidden, furtherDirectories } from "./settings.ts";
import { type SharedParts, subagentRunner, toolsOfOwn } from "./subagents.ts";

export interface AgentParts extends SharedParts {
  readonly role: "teammate" | "lead";
  readonly model: Model;
  readonly agentType: string;
  readonly sessionId: string;
  readonly spawn: SpawnOptions;
  readonly allowedTools?: readonly string[] | undefined;
  readonly disallowedTools?: readonly string[] | undefined;
  readonly addDirs?: readonly string[] | undefined;
  /** Nobody can be asked: no terminal. */
  readonly alone: boolean;
  readonly snapshot?: (() => string | undefined) | undefined;
}

/** Puts an agent together for a worker: its model, tools, rights, prompt and conversation. */
export function assembleAgent(parts: AgentParts): Agent {
  const { ctx, worker, settings } = parts;
  const { TEAMS_BELL_FD: _fd, TEAMS_RESULT: _result, [RECORDING]: _recording, ...inherited } = ctx.env;
  const env = { ...inherited, TEAMS_AGENT: agentId(agentName(worker.name), ctx.ref.team) };
  const hooks = hooksOf(parts, env);
  const forbidden = bypassForbidden(settings, ctx.env);
  worker.plan.forbid((mode) => (mode === "bypassPermissions" ? forbidden : undefined));
  const permissions: AgentPermissions = {
    mode: () => worker.plan.mode,
    rules: () => ({
      allow: [...settings.permissions.allow, ...(parts.allowedTools ?? []), ...worker.desk.allowedHere],
      ask: settings.permissions.ask,
      deny: deniedRules(parts),
    }),
    workingDirs: [ctx.cwd, ...(parts.addDirs ?? []), ...furtherDirectories(settings, ctx)],
    outputDirs: [outputDirectory(ctx.cwd)],
    planFile: worker.plan.planFile,
    protectedDirs: [ctx.home.root],
    coordinator: parts.role === "lead",
    ask: (request, signal) => worker.ask(request, signal),
  };
  const snapshot = parts.snapshot === undefined ? {} : { snapshot: parts.snapshot };
  const { passSecrets } = settings.teams;
  const subagent = subagentRunner(parts, { env, passSecrets, hooks, permissions, ...snapshot });
  return createAgent({
    model: parts.model,
    tools: toolsOf({ ...parts, hooks, subagent }),
    hooks,
    system: () => systemPrompt(parts),
    transcript: openTranscript(transcriptPath(ctx.home.root, parts.sessionId), {
      sessionId: parts.sessionId,
      secrets: secretsOf(ctx.env),
    }),
    cwd: ctx.cwd,
    env,
    passSecrets,
    ...snapshot,
    permissions,
    onEvent: (event) => worker.onEvent(event),
    facts: () => teamNews(ctx.ref, worker.name),
    onTaskEnd: (notice) => worker.taskEnded(notice),
    onInputRecorded: () => worker.inputRecorded(),
    betweenTools: () => worker.betweenTools(),
    clock: ctx.clock,
  });
}

function deniedRules({ settings, disallowedTools = [] }: AgentParts): readonly string[] {
  return [...settings.permissions.deny, ...disallowedTools];
}

/** The hooks of its settings, with the worker's leave to rest in their hands. */
function hooksOf({ ctx, worker, role, agentType, sessionId, settings }: AgentParts, env: Env): Hooks {
  const notice = (event: HookEvent, text: string): void => worker.onEvent({ type: "hook", event, text });
  const transcript = transcriptPath(ctx.home.root, sessionId);
  const setting = settings.hooks;
  const { passSecrets } = settings.teams;
  const ran: HookOptions["ran"] = (event, result, ms) =>
    worker.onEvent({ type: "hook_ran", event, result, ms });
  const hooks = new Hooks({ setting, sessionId, transcript, cwd: ctx.cwd, env, passSecrets, notice, ran });
  const { maxContinuations } = settings.teams.hooks;
  const { name } = worker;
  const { team } = ctx.ref;
  const id = agentId(agentName(name), team);
  worker.rest = new RestGate({
    hooks,
    role,
    name,
    team,
    agentId: id,
    agentType,
    transcript,
    maxContinuations,
    notice,
  });
  return hooks;
}

/** What its type has, of that what it was given, and nothing that a rule denies whatever it is called with. */
function toolsOf(parts: AgentParts & Pick<TeamToolContext, "hooks" | "subagent">): AnyTool[] {
  const named = toolsOfOwn(parts.agentType, parts);
  const denied = deniedRules(parts);
  return [...named, ...teamTools(parts)].filter(({ name }) => !denied.some((rule) => isAboutAll(rule, name)));
}

/** Made anew before each call of the model, so that it names who is there now. */
function systemPrompt(parts: AgentParts): string {
  const { ctx, role, agentType, alone, surroundings } = parts;
  const facts = teamFacts(parts);
  const section = role === "lead" ? leadSection({ ...facts, alone }) : teammateSection(facts);
  return composeSystem({
    agentType: agentTypeOf(agentType),
    cwd: ctx.cwd,
    append: [...(surroundings?.sections ?? []), section],
  });
}

function teamFacts({ ctx, worker }: AgentParts): TeamFacts {
  return {
    name: worker.name,
    team: ctx.ref.team,
    others: memberNames(ctx).filter((name) => name !== worker.name),
    configFile: ctx.ref.paths.config,
    taskDirectory: ctx.ref.paths.tasks,
  };
}

/** A lead that has deleted its team still says its result: nobody is there then. */
function memberNames(ctx: LeadContext): string[] {
  try {
    return readTeam(ctx.ref).members.map(({ name }) => name);
  } catch (error) {
    if (error instanceof TeamError && error.code === "TEAM_NOT_FOUND") return [];
    throw error;
  }
}
