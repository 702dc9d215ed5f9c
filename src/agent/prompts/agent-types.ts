import type { PermissionMode } from "../../schema/permission-modes.ts";

/** Where an agent of a type keeps notes from one conversation to the next. */
export type NotesScope = "user" | "project" | "local";

/** A kind of agent: what it is told of its part, which tools it has, and what it has where its spawner says nothing. */
export interface AgentType {
  readonly name: string;
  /** For the one who chooses a type. */
  readonly description: string;
  /** Names of its tools beside those of the team; undefined is all. */
  readonly tools?: readonly string[] | undefined;
  /** Rules for what it never does. */
  readonly disallowedTools?: readonly string[] | undefined;
  readonly model?: string | undefined;
  readonly permissionMode?: PermissionMode | undefined;
  /** One of the eight of the team. */
  readonly color?: string | undefined;
  readonly memory?: NotesScope | undefined;
  /** Its part, behind what every agent is told. */
  readonly prompt: string;
  /** Stands in place of what every agent is told and of its part. */
  readonly custom?: string | undefined;
  /** Where it is written; undefined for a built-in one. */
  readonly file?: string | undefined;
}

/** The types that count in a directory. */
export interface AgentTypes {
  readonly types: readonly AgentType[];
  /** One sentence for each file that is no type. */
  readonly problems: readonly string[];
  /** Files of a project that nobody has trusted, by path. */
  readonly ignored: readonly string[];
}

const READING = ["Read", "Glob", "Grep", "WebFetch"] as const;
const COMMANDS = ["Bash", "TaskOutput", "TaskStop"] as const;

/** What is taken when nobody names a type. */
export const DEFAULT_AGENT_TYPE = "general-purpose";

export const BUILTIN_AGENT_TYPES: readonly AgentType[] = [
  {
    name: DEFAULT_AGENT_TYPE,
    description: "Any work that needs searching, changing and running things; all tools.",
    prompt:
      "You do whatever the work asks for: search, read, change files, run commands. Do all of what was asked, and nothing more.",
  },
  {
    name: "Explore",
    description: "Finds its way through a code base and reports; reads only.",
    tools: READING,
    prompt:
      "You explore. Find where things are and how they fit together, from the outside in: names, then searches, then the files that matter. You change nothing. Report paths with line numbers, what you found there, and what you looked for without finding it.",
  },
  {
    name: "Plan",
    description: "Works out how a change is to be made; reads only.",
    tools: READING,
    prompt:
      "You plan. Read until you know how the present code does what the change is about, then lay out the steps in the order in which they are to be done, each with the files that it touches, what could go wrong, and how to see that it worked. You change nothing.",
  },
  {
    name: "Bash",
    description: "Runs commands and reports what they say; commands only.",
    tools: COMMANDS,
    prompt:
      "You run commands. Run what was asked for, look at what it prints and how it ends, and report both as they are. Run what cannot be undone only when exactly that was asked for.",
  },
  {
    name: "engineer",
    description: "Writes and changes code, and proves that it works; all tools.",
    prompt:
      "You are an engineer. Read the code around a change before you make it, and write the new code as its neighbours are written. Make the smallest change that solves the whole problem. Run what proves it, the tests first, and say what you ran and what came of it.",
  },
  {
    name: "reviewer",
    description: "Reads changes and finds what is wrong with them; reads and runs, changes nothing.",
    tools: [...READING, ...COMMANDS],
    prompt:
      "You are a reviewer. Look for what is wrong, missing or unsafe, and check each suspicion against the code before you report it. Report the most serious first, each with file and line, what happens, and when. If you found nothing, say so. You change no file.",
  },
  {
    name: "tester",
    description: "Writes tests, runs them and finds out why they fail; all tools.",
    prompt:
      "You are a tester. Test what users rely on, and the edges where it breaks: nothing, one, many, too much, at the same time, interrupted. See each new test fail once, for its own reason. Report a failing test with the command that shows it; never weaken it to make it pass.",
  },
  {
    name: "architect",
    description: "Designs structure and interfaces, and writes the design down; no commands.",
    tools: [...READING, "Write", "Edit"],
    prompt:
      "You are an architect. Decide where responsibilities lie and what the parts say to each other, starting from how the code is now. Prefer fewer and plainer parts. For each decision that matters name what you chose, what you gave up for it, and what would make you choose differently. You write designs, not the code.",
  },
  {
    name: "deployer",
    description: "Builds, releases and checks what was released; all tools.",
    prompt:
      "You are a deployer. Before a step that others will see, check that it is the right thing in the right place, and how it can be undone. Take one step at a time and look at what it did. When something is not as expected, stop there and report it.",
  },
  {
    name: "researcher",
    description: "Gathers facts and says where they are from; reads and runs, changes nothing.",
    tools: [...READING, ...COMMANDS],
    prompt:
      "You are a researcher. Gather what is known about the question, from the code, its history and its documents. Keep what you saw apart from what you conclude, name the source of each fact, and say what remains open. You change no file.",
  },
  {
    name: "teammate",
    description: "A member of a team that takes tasks as they come; all tools.",
    prompt:
      "You are a member of a team. Take the work that comes to you, do it whole, and tell those whom it concerns what they need to know, in a few sentences.",
  },
];

/** What counts where no file adds a type. */
export const ONLY_BUILTIN_TYPES: AgentTypes = { types: BUILTIN_AGENT_TYPES, problems: [], ignored: [] };

/** The type of this name, in any case; undefined where there is none. */
export function findAgentType(
  name: string,
  types: readonly AgentType[] = BUILTIN_AGENT_TYPES,
): AgentType | undefined {
  const folded = name.toLowerCase();
  return types.find((type) => type.name.toLowerCase() === folded);
}

/** The type of this name; a name that is none is a label, as a foreign spawner may give one, and its agent a general one. */
export function agentTypeOrGeneral(
  name: string,
  types: readonly AgentType[] = BUILTIN_AGENT_TYPES,
): AgentType {
  const general = (): AgentType => ({ ...agentTypeOrGeneral(DEFAULT_AGENT_TYPE), name });
  return findAgentType(name, types) ?? general();
}
