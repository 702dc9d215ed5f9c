import type { FakeBlock, FakeReply, FakeRequest } from "./fake-messages-api.ts";

/** One answer of an agent's model in a {@link played} team. */
export interface Line {
  /** What the newest message must hold. */
  readonly when?: RegExp;
  /** What goes wrong before the answer comes, one try after another. */
  readonly first?: readonly FakeReply[];
  readonly says?: string;
  /** Tool calls; `$1` in an input is what the first group of `when` caught. */
  readonly uses?: readonly { readonly name: string; readonly input: object }[];
}

/** Who is asked for, when, and by which message: for a look at what the team did. */
export interface Asked {
  readonly agent: string;
  readonly newest: string;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}

/**
 * A whole team behind one Messages API: each agent is known by what its system prompt calls it, and answers with the
 * first of its lines that was not used yet and fits; with a word that ends the turn where none does.
 */
export function played(cast: Readonly<Record<string, readonly Line[]>>): {
  readonly script: (request: FakeRequest) => FakeReply;
  readonly asked: readonly Asked[];
} {
  const asked: Asked[] = [];
  const left = new Map(Object.entries(cast).map(([agent, lines]) => [agent, lines.map(openLine)]));
  const script = (request: FakeRequest): FakeReply => {
    const agent = agentOf(request);
    const newest = JSON.stringify(request.body.messages.at(-1));
    asked.push({ agent, newest, at: performance.now() });
    const lines = left.get(agent) ?? [];
    const line = lines.find(({ when }) => when?.test(newest) ?? true);
    if (line === undefined) return messageOf({ says: "Nothing to do." });
    const trouble = line.trouble.shift();
    if (trouble !== undefined) return trouble;
    lines.splice(lines.indexOf(line), 1);
    return messageOf(line, line.when?.exec(newest)?.[1]);
  };
  return { script, asked };
}

function openLine(line: Line) {
  return { ...line, trouble: [...(line.first ?? [])] };
}

function agentOf({ body }: FakeRequest): string {
  return /You are ([\w-]+), (?:a teammate|the lead)/.exec(JSON.stringify(body.system))?.[1] ?? "";
}

let calls = 0;

function messageOf({ says, uses = [] }: Line, caught = ""): FakeReply {
  const blocks: FakeBlock[] = says === undefined ? [] : [{ type: "text", text: says }];
  for (const { name, input } of uses) {
    calls += 1;
    const filled: unknown = JSON.parse(JSON.stringify(input).replaceAll("$1", () => caught));
    blocks.push({ type: "tool_use", id: `toolu_${calls}`, name, input: filled });
  }
  return { kind: "message", blocks, usage: { input_tokens: 100, output_tokens: 10 } };
}
