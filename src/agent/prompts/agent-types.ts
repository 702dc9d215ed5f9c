import type { PermissionMode, SandboxMode } from "../../schema/permission-modes.ts";

/** The place where agents of a type keep notes between conversations. */
export type NotesScope = "user" | "project" | "local";

/** A type of agent: its prompt, its tools, and the defaults for options that the spawner leaves out. */
export interface AgentType {
  readonly name: string;
  /** Helps a person or a model to choose a type. */
  readonly description: string;
  /** Names of its tools, in addition to the team tools; undefined for all. */
  readonly tools?: readonly string[] | undefined;
  /** Deny rules. */
  readonly disallowedTools?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  /** Makes the sandbox of its commands stricter than the settings do. */
  readonly sandbox?: SandboxMode | undefined;
  /** The third-party CLI that runs as the teammates of this type. */
  readonly cli?: string | undefined;
  /** The thinking effort of that CLI's model. */
  readonly effort?: string | undefined;
  /** One of the team's eight colours. */
  readonly color?: string | undefined;
  readonly memory?: NotesScope | undefined;
  /** The type's part of the system prompt, after the default prompt. */
  readonly prompt: string;
  /** Replaces the default prompt and the type's part. */
  readonly custom?: string | undefined;
  /** Path of its file; undefined for a built-in type. */
  readonly file?: string | undefined;
}

/** The agent types that are available in a directory. */
export interface AgentTypes {
  readonly types: readonly AgentType[];
  /** One sentence for each invalid file. */
  readonly problems: readonly string[];
  /** Paths of files in an untrusted project, which are ignored. */
  readonly ignored: readonly string[];
}

const READING = ["Read", "Glob", "Grep", "WebFetch"] as const;
const COMMANDS = ["Bash", "TaskOutput", "TaskStop"] as const;

/** The type of an agent whose spawner names none. */
export const DEFAULT_AGENT_TYPE = "general-purpose";

export const BUILTIN_AGENT_TYPES: readonly AgentType[] = [
  {
    name: DEFAULT_AGENT_TYPE,
    description: "Any work that needs searching, changing files and running commands; all tools.",
    prompt:
      "You do whatever the work needs: search, read, change files, run commands. Do all that was asked, and nothing more.",
  },
  {
    name: "Explore",
    description: "Explores a code base and reports; only reads.",
    tools: READING,
    prompt:
      "You explore. Find where things are and how they fit together, from the outside in: names, then searches, then the files that matter. You change nothing. Report paths with line numbers, what you found there, and what you looked for without finding it.",
  },
  {
    name: "Plan",
    description: "Plans a change; only reads.",
    tools: READING,
    prompt:
      "You plan. Read until you know how the current code works where the change belongs. Then list the steps in order, each with the files that it touches, what could go wrong, and how to verify it. You change nothing.",
  },
  {
    name: "Bash",
    description: "Runs commands and reports their output; commands only.",
    tools: COMMANDS,
    prompt:
      "You run commands. Run what was asked for, and report its output and its exit status unchanged. Run a command that cannot be undone only if exactly that command was asked for.",
  },
  {
    name: "engineer",
    description: "Writes and changes code, and proves that it works; all tools.",
    prompt:
      "You are an engineer. Read the code around a change before you make it, and write new code in the style of the code around it. Make the smallest change that solves the whole problem. Run what proves that it works, the tests first, and report what you ran and the results.",
  },
  {
    name: "reviewer",
    description: "Reads changes and finds what is wrong with them; reads and runs, changes nothing.",
    tools: [...READING, ...COMMANDS],
    prompt:
      "You are a reviewer. Look for what is wrong, missing or unsafe, and check each suspicion against the code before you report it. Report the most serious problem first, each problem with its file and line, what happens, and when. If you found nothing, say so. You change no file.",
  },
  {
    name: "tester",
    description: "Writes tests, runs them and finds out why they fail; all tools.",
    prompt:
      "You are a tester. Test what users rely on, and the edge cases: nothing, one, many, too much, concurrent, interrupted. See each new test fail once, for the right reason. Report a failing test with the command that shows it; never weaken it to make it pass.",
  },
  {
    name: "architect",
    description: "Designs structure and interfaces, and writes the design down; no commands.",
    tools: [...READING, "Write", "Edit"],
    prompt:
      "You are an architect. Decide where responsibilities lie and how the parts communicate, starting from the current code. Prefer fewer and simpler parts. For each important decision, name what you chose, what you gave up for it, and what would make you choose differently. You write designs, not the code.",
  },
  {
    name: "deployer",
    description: "Builds, releases and checks what was released; all tools.",
    prompt:
      "You are a deployer. Before a step that others will see, check that it is the right step in the right place, and how it can be undone. Take one step at a time and check its result. When something is not as expected, stop and report it.",
  },
  {
    name: "researcher",
    description: "Gathers facts and names their sources; reads and runs, changes nothing.",
    tools: [...READING, ...COMMANDS],
    prompt:
      "You are a researcher. Gather what is known about the question, from the code, its history and its documents. Separate what you saw from what you conclude, name the source of each fact, and say what remains open. You change no file.",
  },
  {
    name: "teammate",
    description: "A member of a team that takes any task; all tools.",
    prompt:
      "You are a member of a team. Take the work that you get, finish all of it, and tell the members concerned what they need to know, in a few sentences.",
  },
];

/** The types of a directory without agent type files. */
export const ONLY_BUILTIN_TYPES: AgentTypes = { types: BUILTIN_AGENT_TYPES, problems: [], ignored: [] };

/** Finds a type by name, ignoring case. */
export function findAgentType(
  name: string,
  types: readonly AgentType[] = BUILTIN_AGENT_TYPES,
): AgentType | undefined {
  const folded = name.toLowerCase();
  return types.find((type) => type.name.toLowerCase() === folded);
}

/** Finds a type by name. An unknown name, for example from another program, is a label for the general-purpose type. */
export function agentTypeOrGeneral(
  name: string,
  types: readonly AgentType[] = BUILTIN_AGENT_TYPES,
): AgentType {
  const general = (): AgentType => ({ ...agentTypeOrGeneral(DEFAULT_AGENT_TYPE), name });
  return findAgentType(name, types) ?? general();
}
