import { randomUUID } from "node:crypto";
import type { AgentOptions } from "../../agent/agent.ts";
import { openTranscript } from "../../agent/conversation/transcript.ts";
import type { Model } from "../../agent/model/model.ts";
import type { PermissionRules } from "../../agent/permissions/rules.ts";
import { type AgentType, agentTypeOrGeneral } from "../../agent/prompts/agent-types.ts";
import { composeSystem, SUBAGENT_SECTION } from "../../agent/prompts/system-prompt.ts";
import { type Notes, openNotes } from "../../agent/prompts/type-notes.ts";
import { runSubagent } from "../../agent/subagent.ts";
import type { AnyTool } from "../../agent/tool.ts";
import { builtinTools } from "../../agent/tools/builtin-tools.ts";
import { chooseTools, withNoteTools } from "../../agent/tools/select-tools.ts";
import type { AgentPermissions } from "../../agent/turn/permitted-call.ts";
import type { OperationContext } from "../../operations/context.ts";
import { exceedsMode } from "../../operations/permission-mode.ts";
import { secretsOf } from "../../os/redact.ts";
import { transcriptPath } from "../../protocol/paths.ts";
import type { LiveSettings } from "../../settings/live-settings.ts";
import type { SubagentCall, TeamToolContext } from "../../team-tools/context.ts";
import type { Worker } from "../../worker/worker.ts";
import type { AgentResources } from "./agent-resources.ts";
import { environmentFacts } from "./environment-facts.ts";
import { readDenialsOf } from "./read-denials.ts";

/** What an agent and those that work for it are made of alike. */
export interface SharedParts {
  readonly ctx: OperationContext;
  readonly worker: Worker;
  /** The model of a subagent: named, else that of its agent. A playbook has its turns in the list `agent`. */
  readonly modelFor: (agent: string, name: string | undefined) => Promise<Model>;
  readonly settings: LiveSettings;
  /** The only tools it has, by name; all of its type without it. */
  readonly tools?: readonly string[] | undefined;
  /** What the user and the project give it. */
  readonly surroundings?: Pick<AgentResources, "tools" | "memory" | "skills" | "readDirs">;
  /** The types that count for it; the built-in ones without them. */
  readonly types?: readonly AgentType[];
  /** Where it has the notes of a project; its working directory without it. */
  readonly notesIn?: string;
}

/**
 * The tools of an agent that are not about its team: of its type, of those only the ones that are named, and nothing that a
 * rule denies as a whole.
 * @param parts with `within` the names of those that the agent which it works for has by its type: it has no others
 */
export function toolsOfOwn(
  type: AgentType,
  {
    tools,
    surroundings,
    typeTools: within,
  }: Pick<SharedParts, "tools" | "surroundings"> & Pick<TeamToolContext, "typeTools">,
  notes: Notes | undefined,
  deny: readonly string[],
): readonly AnyTool[] {
  const all = [...builtinTools(), ...(surroundings?.tools ?? [])];
  const typed = chooseTools(chooseTools(all, { base: type.tools }), { base: within });
  const base = notes === undefined ? typed : withNoteTools(all, typed, notes.directory);
  return chooseTools(base, { only: tools, without: deny });
}

/** What the user and the project tell an agent with these tools: who has not the one that loads skills has no use for their list. */
export function surroundingSections(
  { surroundings }: Pick<SharedParts, "surroundings">,
  tools: readonly string[],
): string[] {
  const { memory = "", skills = "" } = surroundings ?? {};
  return [memory, tools.includes("Skill") ? skills : ""];
}

/** What a subagent has from the agent that it works for. */
type Inherited = Pick<AgentOptions, "env" | "passSecrets" | "snapshot" | "hooks" | "permissions">;

/**
 * Runs subagents of this agent: its rights and hooks, a model and a conversation of their own.
 * @param within the tools that its own type has; undefined for all
 */
export function subagentRunner(
  parts: SharedParts,
  inherited: Inherited,
  within: AgentType["tools"],
): TeamToolContext["subagent"] {
  const { ctx, settings } = parts;
  return async (call, signal) => {
    const id = randomUUID();
    const { agentType } = call;
    const type = agentTypeOrGeneral(agentType, parts.types);
    const notes = notesOf(parts, type, rulesOf(inherited.permissions));
    const permissions = permissionsOf(call, type, notes, inherited.permissions);
    const tools = toolsOfOwn(type, { ...parts, typeTools: within }, notes, rulesOf(permissions).deny);
    const names = tools.map(({ name }) => name);
    const model = call.model ?? type.model;
    return runSubagent(
      {
        ...inherited,
        id,
        agentType,
        prompt: call.prompt,
        model: await parts.modelFor(agentType, model === "inherit" ? undefined : model),
        tools,
        system: composeSystem({
          agentType: type,
          tools: names,
          ...environmentFacts(ctx),
          worksFor: "agent",
          mode: permissions.mode(),
          append: [...surroundingSections(parts, names), notes?.section ?? "", SUBAGENT_SECTION],
        }),
        transcript: openTranscript(transcriptPath(ctx.home.root, id), {
          sessionId: id,
          secrets: secretsOf(ctx.env),
        }),
        cwd: ctx.cwd,
        permissions,
        onEvent: (event) => parts.worker.onSubagentEvent({ id, what: call.description }, event),
        ...(call.background ? {} : { betweenTools: () => parts.worker.betweenTools() }),
        beforeCall: (aborted) => parts.worker.beforeCall(aborted),
        maxContinuations: settings().teams.hooks.maxContinuations,
        clock: ctx.clock,
      },
      signal,
    );
  };
}

function notesOf(
  { ctx, worker, notesIn = ctx.cwd }: SharedParts,
  type: AgentType,
  rules: PermissionRules,
): Notes | undefined {
  const isKeptBack = readDenialsOf(ctx, rules, type.disallowedTools ?? []);
  const notes = openNotes(type, ctx.home.root, notesIn, isKeptBack);
  if (notes === undefined || "directory" in notes) return notes;
  worker.onEvent({ type: "subagent", what: type.name, doing: notes.problem });
  return undefined;
}

/** The agent's own, at this very moment, and what the call and its type add to them; in no mode that allows more. */
function permissionsOf(
  { description, mode, allowedTools = [], disallowedTools = [] }: SubagentCall,
  type: AgentType,
  notes: Notes | undefined,
  own: AgentPermissions,
): AgentPermissions {
  const { notes: _agents, ...rest } = own;
  return {
    ...rest,
    ...(notes === undefined ? {} : { notes: notes.directory }),
    mode: () => (mode === undefined || exceedsMode(mode, own.mode()) ? own.mode() : mode),
    ask: (request, signal) => own.ask({ ...request, subagentTask: description }, signal),
    rules: () => {
      const rules = rulesOf(own);
      return {
        ...rules,
        allow: [...rules.allow, ...allowedTools],
        deny: [...rules.deny, ...(type.disallowedTools ?? []), ...disallowedTools],
      };
    },
  };
}

function rulesOf({ rules }: AgentPermissions): PermissionRules {
  return typeof rules === "function" ? rules() : rules;
}
