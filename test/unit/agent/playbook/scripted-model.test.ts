// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the braces are text of a playbook
import { describe, expect, test } from "vitest";
import type {
  AssistantMessage,
  ConversationMessage,
  InputOrigin,
  ModelEvent,
  UserMessage,
} from "../../../../src/agent/model/model.ts";
import { scriptedModel } from "../../../../src/agent/playbook/scripted-model.ts";
import { formatEnvelopes } from "../../../../src/protocol/envelope.ts";
import { type PlaybookTurn, parsePlaybook } from "../../../../src/schema/playbook.ts";

type Agents = Readonly<Record<string, readonly PlaybookTurn[]>>;

interface Options {
  readonly agent?: string;
  readonly planFile?: string;
  readonly signal?: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
}

/** Calls the scripted model once, at a thousand times its real speed. */
async function call(agents: Agents, messages: readonly ConversationMessage[], options: Options = {}) {
  const { agent = "ada", planFile, signal = new AbortController().signal, env = {} } = options;
  const playbook = parsePlaybook(JSON.stringify({ version: 1, agents }), "test.json");
  const model = scriptedModel({ playbook, agent, cwd: "/work", env, speed: 1000 });
  const request = { system: "", messages, tools: [], ...(planFile === undefined ? {} : { planFile }) };
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, signal)) events.push(event);
  return events;
}

async function answer(agents: Agents, messages: readonly ConversationMessage[], options?: Options) {
  const last = (await call(agents, messages, options)).at(-1);
  if (last?.type !== "message") throw new Error("no message");
  return last;
}

function says(text: string, origin: Partial<InputOrigin> = {}): UserMessage {
  return { role: "user", content: [{ type: "text", text }], origin: { text, from: "team-lead", ...origin } };
}

function result(toolUseId: string, content: string, data?: unknown): UserMessage {
  const block = { type: "tool_result", toolUseId, content, isError: false } as const;
  return { role: "user", content: [data === undefined ? block : { ...block, data }] };
}

const textOf = ({ content }: AssistantMessage): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");
const usesOf = ({ content }: AssistantMessage) => content.filter((block) => block.type === "tool_use");
const bash = (command: string, as?: string) => ({
  name: "Bash",
  input: { command },
  ...(as === undefined ? {} : { as }),
});

describe("the choice of a turn", () => {
  test("plays turns in order, each once, and then says nothing", async () => {
    const agents = { ada: [{ say: "one" }, { say: "two" }] };
    const messages: ConversationMessage[] = [says("a")];
    for (const expected of ["one", "two", ""]) {
      const { message, stopReason } = await answer(agents, messages);
      expect(textOf(message)).toBe(expected);
      expect(stopReason).toBe("end_turn");
      messages.push(message, says("next"));
    }
  });

  test.each([
    ["Task", "Agent"],
    ["Agent", "Task"],
  ])("matches `on.tool` %s with the result of a call of its alias %s", async (wanted, called) => {
    const agents = {
      ada: [{ tools: [{ name: called, input: {} }] }, { on: { tool: wanted }, say: "ready" }],
    };
    const messages: ConversationMessage[] = [says("a")];
    const { message } = await answer(agents, messages);
    messages.push(message, result(usesOf(message)[0]?.id ?? "", "It is there."));
    expect(textOf((await answer(agents, messages)).message)).toBe("ready");
  });

  test("plays the first unplayed turn whose `on` matches the newest input", async () => {
    const agents = {
      ada: [
        { on: { contains: "stop" }, say: "stopping" },
        { on: { matches: "^go (now|later)$" }, say: "going" },
      ],
    };
    expect(textOf((await answer(agents, [says("go now")])).message)).toBe("going");
    expect(textOf((await answer(agents, [says("please stop")])).message)).toBe("stopping");
    expect(textOf((await answer(agents, [says("go nowhere")])).message)).toBe("");
  });

  test("plays an agent's own list before the list for all", async () => {
    const agents = { "*": [{ say: "anyone" }], ada: [{ on: { contains: "ada" }, say: "ada herself" }] };
    expect(textOf((await answer(agents, [says("hi ada")])).message)).toBe("ada herself");
    expect(textOf((await answer(agents, [says("hi")])).message)).toBe("anyone");
    expect(textOf((await answer(agents, [says("hi ada")], { agent: "bob" })).message)).toBe("anyone");
  });

  test("checks `on` against a tool's result after a call", async () => {
    const agents = {
      ada: [
        { tools: [bash("ls")] },
        { on: { contains: "nothing" }, say: "empty" },
        { on: { contains: "README" }, say: "found" },
      ],
    };
    const messages: ConversationMessage[] = [says("nothing to say")];
    const first = (await answer(agents, messages)).message;
    messages.push(first, result(usesOf(first)[0]?.id ?? "", "README.md"));
    expect(textOf((await answer(agents, messages)).message)).toBe("found");
  });

  test("plays a turn with `repeat` for every input", async () => {
    const agents = { ada: [{ say: "echo {{input}}", repeat: true }] };
    const messages: ConversationMessage[] = [];
    for (const word of ["a", "b", "c"]) {
      messages.push(says(word));
      const { message } = await answer(agents, messages);
      expect(textOf(message)).toBe(`echo ${word}`);
      messages.push(message);
    }
  });

  test("continues after the played turns of the conversation in a new model", async () => {
    const agents = { ada: [{ say: "one" }], "*": [{ say: "two" }] };
    const played: AssistantMessage = { role: "assistant", content: [], turn: "ada/0" };
    const { message } = await answer(agents, [says("a"), played, says("b")]);
    expect(message).toMatchObject({ turn: "*/0", content: [{ text: "two" }] });
  });

  test("does not play an interrupted turn again", async () => {
    const agents = { ada: [{ say: "long", delayMs: 600_000 }, { say: "short" }] };
    const controller = new AbortController();
    const begun = call(agents, [says("a")], { signal: controller.signal });
    controller.abort();
    await expect(begun).rejects.toMatchObject({ name: "AbortError" });
    const cut: AssistantMessage = { role: "assistant", content: [], turn: "ada/0", unfinished: true };
    expect(textOf((await answer(agents, [says("a"), cut, says("b")])).message)).toBe("short");
  });
});

describe("a shutdown request", () => {
  const request = says("Shutdown request s1.", {
    requestId: "s1",
    shutdown: { requestId: "s1", text: "Shutdown request s1." },
  });
  const approval = { type: "shutdown_response", request_id: "s1", approve: true };

  test.each<[string, Agents]>([
    ["no turn is left", { ada: [] }],
    ["no turn matches", { "*": [{ on: { contains: "hello" }, say: "hi" }] }],
    [
      "the turns without `on` belong to other inputs",
      { ada: [{ say: "my work" }, { say: "echo", repeat: true }] },
    ],
  ])("is approved if %s", async (_, agents) => {
    const { message, stopReason } = await answer(agents, [request]);
    expect(usesOf(message)).toMatchObject([{ name: "SendMessage", input: approval }]);
    expect(stopReason).toBe("tool_use");
    const messages = [request, message, result(usesOf(message)[0]?.id ?? "", "ok")];
    expect(usesOf((await answer({}, messages)).message)).toEqual([]);
  });

  test("is left to a turn that matches or answers it", async () => {
    const asks = { ada: [{ on: { contains: "Shutdown" }, say: "no" }] };
    expect(textOf((await answer(asks, [request])).message)).toBe("no");
    const refusal = {
      type: "shutdown_response",
      request_id: "{{request_id}}",
      approve: false,
      content: "busy",
    };
    const answers = { ada: [{ tools: [{ name: "SendMessage", input: refusal }] }] };
    expect(usesOf((await answer(answers, [request])).message)[0]?.input).toEqual({
      ...refusal,
      request_id: "s1",
    });
  });
});

describe("a shutdown request together with another message", () => {
  const joined = says("Hello.\n\nShutdown request s1.", {
    text: "Hello.",
    requestId: "s1",
    shutdown: { requestId: "s1", text: "Shutdown request s1." },
  });
  const approval = { type: "shutdown_response", request_id: "s1", approve: true };
  /** Plays all calls of the turn until an answer calls no tool. */
  const played = async (agents: Agents) => {
    const messages: ConversationMessage[] = [joined];
    const uses: unknown[] = [];
    for (;;) {
      const { message } = await answer(agents, messages);
      messages.push(message);
      const calls = usesOf(message);
      if (calls.length === 0) return { uses, said: messages.map((one) => textOf(one as AssistantMessage)) };
      uses.push(...calls.map(({ input }) => input));
      messages.push(...calls.map(({ id }) => result(id, "ok")));
    }
  };

  test("is approved after the turn that answers the other message", async () => {
    const { uses, said } = await played({ ada: [{ on: { contains: "Hello" }, say: "hi" }] });
    expect(uses).toEqual([approval]);
    expect(said).toContain("hi");
  });

  test("is approved when the work that a turn begins is done", async () => {
    const work = { on: { contains: "Hello" }, tools: [bash("one")] };
    const more = { on: { tool: "Bash" }, tools: [bash("two")] };
    const { uses } = await played({ ada: [work, more] });
    expect(uses).toEqual([{ command: "one" }, { command: "two" }, approval]);
    const ends = await played({ ada: [work, { say: "done" }] });
    expect(ends.uses).toEqual([{ command: "one" }, approval]);
  });

  test("is answered only once by a turn that matches it", async () => {
    const refusal = { ...approval, approve: false, content: "busy" };
    const answers = { on: { contains: "Hello" }, tools: [{ name: "SendMessage", input: refusal }] };
    expect((await played({ ada: [answers, { say: "bye" }] })).uses).toEqual([refusal]);
    expect((await played({ ada: [{ on: { contains: "Shutdown" }, say: "not now" }] })).uses).toEqual([]);
  });
});

test("scriptedModel plays a turn for a new tool result before a turn that only matches an earlier message", async () => {
  const texts = ["It is counted.", "ada is idle."].map((body) => ({ from: "ada", body }));
  const joined = says(formatEnvelopes(texts), { text: "ada is idle." });
  const agents = {
    ada: [
      { on: { heard: ["^It is counted"] }, tools: [bash("end")] },
      { on: { heard: ["^ada is idle"] } },
      { on: { tool: "Bash" }, say: "Done as planned." },
    ],
  };
  const { message } = await answer(agents, [joined]);
  const messages = [joined, message, result(usesOf(message)[0]?.id ?? "", "ended")];
  expect(textOf((await answer(agents, messages)).message)).toBe("Done as planned.");
});

describe("placeholders", () => {
  const filled = async (text: string, messages: readonly ConversationMessage[], options?: Options) =>
    textOf((await answer({ "*": [{ say: text, repeat: true }] }, messages, options)).message);

  test("insert the newest message, its facts and the environment", async () => {
    const hello = says("<hello & all>", { from: "bob", requestId: "r7" });
    const text = "{{input}} {{message.from}} {{request_id}} {{plan_file}} {{cwd}} {{env.WHO}} {{ cwd }}";
    const answered = await filled(text, [hello], { planFile: "/p.md", env: { WHO: "me" } });
    expect(answered).toBe("<hello & all> bob r7 /p.md /work me /work");
  });

  test("are not replaced inside inserted text, and other braces stay", async () => {
    expect(await filled("{{input}} {{.Name}} {{}} ${x}", [says("{{cwd}} $&")])).toBe(
      "{{cwd}} $& {{.Name}} {{}} ${x}",
    );
  });

  test("insert a tool's result: its data by path, JSON in its text, or its whole text", async () => {
    const agents = {
      ada: [
        { tools: [bash("a", "plain"), bash("b", "json"), bash("c", "data")] },
        { say: "{{plain}}|{{json.list.1.id}}|{{data.stdout}}|{{data.deep}}|{{json}}" },
      ],
    };
    const messages: ConversationMessage[] = [says("go")];
    const { message } = await answer(agents, messages);
    const [a, b, c] = usesOf(message).map(({ id }) => id);
    const content = [
      ...result(a ?? "", "just text\n").content,
      ...result(b ?? "", '{"list":[{"id":1},{"id":22}]}').content,
      ...result(c ?? "", "shown", { stdout: "line\n\n", deep: { x: [1] } }).content,
    ];
    messages.push(message, { role: "user", content });
    const answered = textOf((await answer(agents, messages)).message);
    expect(answered).toBe('just text|22|line|{"x":[1]}|{"list":[{"id":1},{"id":22}]}');
  });

  test("insert the newest result with a name", async () => {
    const agents = {
      ada: [
        { on: { contains: "run" }, tools: [bash("a", "x")], repeat: true },
        { on: { contains: "say" }, say: "{{x}}" },
      ],
    };
    const messages: ConversationMessage[] = [];
    for (const output of ["old", "new"]) {
      messages.push(says("run"));
      const { message } = await answer(agents, messages);
      messages.push(message, result(usesOf(message)[0]?.id ?? "", output));
    }
    expect(textOf((await answer(agents, [...messages, says("say")])).message)).toBe("new");
  });

  test("without a value fail with an error that names agent, turn and placeholder", async () => {
    const agents = { ada: [{ say: "fine" }, { say: "{{nobody.knows}}" }] };
    const played: AssistantMessage = { role: "assistant", content: [], turn: "ada/0" };
    await expect(answer(agents, [says("a"), played, says("b")])).rejects.toMatchObject({
      name: "ModelError",
      message: expect.stringMatching(/"ada", turn 1.*\{\{nobody\.knows\}\}/),
    });
  });

  test("are quoted as one word in a Bash command and inserted unchanged elsewhere", async () => {
    const evil = "a b'; rm -rf / #";
    const tools = [
      { name: "Bash", input: { command: "wc -l {{input}}", description: "{{input}}" } },
      { name: "Read", input: { file_path: "{{input}}", nested: ["{{cwd}}", 3, null] } },
    ];
    const uses = usesOf((await answer({ ada: [{ tools }] }, [says(evil)])).message);
    expect(uses[0]?.input).toEqual({ command: "wc -l 'a b'\\''; rm -rf / #'", description: evil });
    expect(uses[1]?.input).toEqual({ file_path: evil, nested: ["/work", 3, null] });
  });
});

describe("errors of a playbook", () => {
  const overloaded = { status: 529, type: "overloaded_error" };

  test("are reported as retries as often as the turn says, before the turn is played", async () => {
    const events = await call({ ada: [{ error: { ...overloaded, times: 2 }, say: "at last" }] }, [says("a")]);
    const kinds = events.map(({ type }) => type);
    expect(kinds.slice(0, 3)).toEqual(["begun", "retry", "retry"]);
    expect(events[1]).toMatchObject({ status: 529, attempt: 1, reason: "529 overloaded_error" });
    expect(kinds.at(-1)).toBe("message");
  });

  test("fail the call after too many retries", async () => {
    const endless = call({ ada: [{ error: { ...overloaded, times: 99 } }] }, [says("a")]);
    await expect(endless).rejects.toMatchObject({ kind: "overloaded", status: 529 });
  });

  test("fail the call if they are not retryable, and the turn is played afterwards", async () => {
    const agents = {
      ada: [{ error: { status: 401, type: "authentication_error" }, say: "now" }, { say: "later" }],
    };
    await expect(call(agents, [says("a")])).rejects.toMatchObject({ kind: "auth", status: 401 });
    const failed: AssistantMessage = { role: "assistant", content: [], turn: "ada/0", unfinished: true };
    expect(textOf((await answer(agents, [says("a"), failed, says("b")])).message)).toBe("now");
  });

  test("complete a turn that consists of an error only", async () => {
    const agents = { ada: [{ error: { status: 400, type: "invalid_request_error" } }, { say: "next" }] };
    const failed: AssistantMessage = { role: "assistant", content: [], turn: "ada/0", unfinished: true };
    expect(textOf((await answer(agents, [says("a"), failed, says("b")])).message)).toBe("next");
  });
});

test("scriptedModel streams text in pieces and reports the usage of the playbook", async () => {
  const events = await call({ ada: [{ say: "one two\n three", usage: { input: 5, output: 7 } }] }, [
    says("a"),
  ]);
  const pieces = events.flatMap((event) => (event.type === "text" ? [event.text] : []));
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join("")).toBe("one two\n three");
  expect(events.at(-1)).toMatchObject({ usage: { input: 5, output: 7, cacheRead: 0, cacheWrite: 0 } });
});

test("scriptedModel ends a delay immediately on abort", async () => {
  const controller = new AbortController();
  const waiting = call({ ada: [{ delayMs: 600_000 }] }, [says("a")], { signal: controller.signal });
  setImmediate(() => controller.abort());
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
});
