import { randomUUID } from "node:crypto";
import type { AgentOptions } from "../agent/agent.ts";
import type { AgentEvent } from "../agent/events.ts";
import type { Model } from "../agent/model/model.ts";
import { agentTypeOf, toolsOfType } from "../agent/prompts/agent-types.ts";
import { composeSystem } from "../agent/prompts/compose.ts";
import { SUBAGENT_SECTION } from "../agent/prompts/subagent.ts";
import { runSubagent } from "../agent/subagent.ts";
import type { AgentPermissions } from "../agent/tool-calls.ts";
import { isAmong } from "../agent/tools/names.ts";
import { builtinTools } from "../agent/tools/registry.ts";
import type { AnyTool } from "../agent/tools/tool.ts";
import { openTranscript } from "../agent/transcript.ts";
import type { LeadContext } from "../lead/context.ts";
import { secretsOf } from "../os/secrets.ts";
import { transcriptPath } from "../protocol/paths.ts";
import type { SubagentCall, TeamToolContext } from "../team-tools/context.ts";
import type { Worker } from "../worker/worker.ts";
import type { LoadedSettings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";

/** What an agent and those that work for it are made of alike. */
export interface SharedParts {
  readonly ctx: LeadContext;
  readonly worker: Worker;
  /** The model of a subagent: named, else that of its agent. A playbook has its turns in the list `agent`. */
  readonly modelFor: (agent: string, name: string | undefined) => Promise<Model>;
  readonly settings: LoadedSettings;
  /** The only tools it has, by name; all of its type without it. */
  readonly tools?: readonly string[] | undefined;
  /** What the user and the project give it. */
  readonly surroundings?: Pick<Surroundings, "tools" | "sections">;
}

/** The tools of an agent that are not about its team: of its type, and of those only the ones that are named. */
export function toolsOfOwn(
  agentType: string,
  { tools, surroundings }: Pick<SharedParts, "tools" | "surroundings">,
): AnyTool[] {
  const all = [...builtinTools(), ...(surroundings?.tools ?? [])];
  const own = toolsOfType(agentTypeOf(agentType), all);
  return tools === undefined ? own : own.filter(({ name }) => isAmong(name, tools));
}

/** What a subagent has from the agent that it works for. */
type Inherited = Pick<AgentOptions, "env" | "passSecrets" | "snapshot" | "hooks" | "permissions">;

/** Runs subagents of this agent: its rights and hooks, a model and a conversation of their own. */
export function subagentRunner(parts: SharedParts, inherited: Inherited): TeamToolContext["subagent"] {
  const { ctx, settings, surroundings } = parts;
  return async (call, signal) => {
    const id = randomUUID();
    const { agentType } = call;
    return runSubagent(
      {
        ...inherited,
        id,
        agentType,
        prompt: call.prompt,
        model: await parts.modelFor(agentType, call.model === "inherit" ? undefined : call.model),
        tools: toolsOfOwn(agentType, parts),
        system: composeSystem({
          agentType: agentTypeOf(agentType),
          cwd: ctx.cwd,
          append: [...(surroundings?.sections ?? []), SUBAGENT_SECTION],
        }),
        transcript: openTranscript(transcriptPath(ctx.home.root, id), {
          sessionId: id,
          secrets: secretsOf(ctx.env),
        }),
        cwd: ctx.cwd,
        permissions: permissionsOf(call, inherited.permissions),
        onEvent: (event) => told(parts, call, event),
        maxContinuations: settings.teams.hooks.maxContinuations,
        clock: ctx.clock,
      },
      signal,
    );
  };
}

/** The agent's own, at this very moment, and what the call adds to them. */
function permissionsOf(
  { mode, allowedTools = [], disallowedTools = [] }: SubagentCall,
  own: AgentPermissions,
): AgentPermissions {
  return {
    ...own,
    mode: () => mode ?? own.mode(),
    rules: () => {
      const rules = typeof own.rules === "function" ? own.rules() : own.rules;
      return {
        ...rules,
        allow: [...rules.allow, ...allowedTools],
        deny: [...rules.deny, ...disallowedTools],
      };
    },
  };
}

/** Of what it does its agent's pane shows what concerns a person, and its account counts all of it. */
function told({ worker }: SharedParts, { description: what }: SubagentCall, event: AgentEvent): void {
  switch (event.type) {
    case "spent":
    case "model_called":
    case "throttled":
    case "permission_asked":
    case "permission_decided":
    case "hook":
    case "hook_ran":
      worker.onEvent(event);
      break;
    case "tool_started":
      worker.onEvent({ type: "subagent", what, doing: `${event.tool}(${event.summary})` });
      break;
    case "compacting":
      worker.onEvent({ type: "subagent", what, doing: "summarises its conversation" });
      break;
    default:
    // Its words and results are its own: the result comes back as that of the call.
  }
}
