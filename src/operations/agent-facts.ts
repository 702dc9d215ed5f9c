import { join } from "node:path";
import { isInside } from "../agent/permissions/protected-paths.ts";
import type { AgentType } from "../agent/prompts/agent-types.ts";
import type { EventFacts } from "../schema/event.ts";

/** The spawner's choices for an agent; missing ones come from its type or from the lead. */
interface OwnChoices {
  readonly model?: string | undefined;
  readonly tools?: readonly string[] | undefined;
  /** For a subagent: the tools of its parent agent's type. */
  readonly within?: readonly string[] | undefined;
  /** Its prompt comes from the flags of its start. */
  readonly hasOwnPrompt?: boolean;
}

export type NewAgentFacts = Extract<EventFacts, { readonly what: "created"; readonly type: "agent" }>;

/** Returns the facts for the event of a created agent. @param root the directory of teams, which has the user's agent types */
export function newAgentFacts(
  root: string,
  type: AgentType,
  { model, tools, within, hasOwnPrompt = false }: OwnChoices,
): NewAgentFacts {
  const { file, memory } = type;
  const isUsers = file !== undefined && isInside(file, join(root, "agents"));
  return {
    type: "agent",
    what: "created",
    source: hasOwnPrompt ? "flag" : file === undefined ? "built-in" : isUsers ? "user" : "project",
    toolCount: toolCount(type.tools, within, tools),
    hasCustomModel: model !== undefined || (type.model !== undefined && type.model !== "inherit"),
    hasCustomColor: type.color !== undefined,
    hasMemory: memory !== undefined,
    memoryScope: memory,
  };
}

/** Counts the tools that are in every given list; a pattern of names counts as one tool. Returns "all" if no list limits them. */
function toolCount(...lists: readonly (readonly string[] | undefined)[]): number | "all" {
  const limits = lists.filter((list) => list !== undefined).filter((list) => !list.includes("*"));
  const [first, ...rest] = limits.map((list) => new Set(list.map((name) => name.toLowerCase())));
  return first === undefined ? "all" : [...first].filter((name) => rest.every((one) => one.has(name))).length;
}
