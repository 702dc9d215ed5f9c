import type { FakeBlock, FakeReply, FakeRequest } from "./fake-messages-api.ts";

/** One answer of an agent's model in a {@link scriptedTeam}. */
export interface Line {
  /** A pattern that the newest message must match. */
  readonly when?: RegExp;
  /** The failures before the answer, one for each attempt. */
  readonly first?: readonly FakeReply[];
  readonly says?: string;
  /** Tool calls; `$1` in an input is replaced with the first group of `when`. */
  readonly uses?: readonly { readonly name: string; readonly input: object }[];
}

/** A request to the model: by which agent, when, and for which message. */
export interface ModelRequest {
  readonly agent: string;
  readonly newest: string;
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
}

/** The default answer to a shutdown request: without an answer, a run cannot end. */
const AGREES: Line = {
  when: /^(?!.*tool_result).*?(shutdown-\d+@[\w-]+)/,
  says: "Good bye.",
  uses: [{ name: "SendMessage", input: { type: "shutdown_response", request_id: "$1", approve: true } }],
};

/**
 * Plays a whole team behind one Messages API. Each agent is recognized by the name in its system prompt, and
 * answers with its first unused line that matches; without a match it agrees to shut down if asked, or ends its turn.
 */
export function scriptedTeam(cast: Readonly<Record<string, readonly Line[]>>): {
  readonly script: (request: FakeRequest) => FakeReply;
  readonly asked: readonly ModelRequest[];
} {
  const asked: ModelRequest[] = [];
  const unused = new Map(Object.entries(cast).map(([agent, lines]) => [agent, lines.map(withFailures)]));
  const script = (request: FakeRequest): FakeReply => {
    const agent = agentOf(request);
    const newest = JSON.stringify(request.body.messages.at(-1));
    asked.push({ agent, newest, at: performance.now() });
    const lines = unused.get(agent) ?? [];
    const line = lines.find(({ when }) => when?.test(newest) ?? true);
    if (line === undefined) {
      const id = AGREES.when?.exec(newest)?.[1];
      return id === undefined ? messageOf({ says: "Nothing to do." }) : messageOf(AGREES, id);
    }
    const failure = line.failures.shift();
    if (failure !== undefined) return failure;
    lines.splice(lines.indexOf(line), 1);
    return messageOf(line, line.when?.exec(newest)?.[1]);
  };
  return { script, asked };
}

function withFailures(line: Line) {
  return { ...line, failures: [...(line.first ?? [])] };
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
