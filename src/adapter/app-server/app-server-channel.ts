import { messageOf, TeamError } from "../../errors.ts";
import { isDoneWithin } from "../../os/done-within.ts";
import { createSocketDirectory, type SocketDirectory } from "../../os/net/local-server.ts";
import { type PipedProgram, startPiped } from "../../os/process/piped-program.ts";
import { type ScreenProgram, startOnScreen } from "../../os/process/screen-program.ts";
import { LoginMissing, whenLoggedIn } from "../await-login.ts";
import { awaitTools, SCREEN_TIMEOUTS } from "../await-tools.ts";
import type { Channel, ChannelAnswer, ChannelEvents, ChannelSetup, ToolServer } from "../channel.ts";
import { lastWords, waitForEnd } from "../last-words.ts";
import { askFields } from "../questions/ask-fields.ts";
import { refusalLine, refusalText } from "../refusals.ts";
import { fieldsOf } from "../reported-values.ts";
import { notStarted, requireProgram } from "../require-program.ts";
import { startStep } from "../start-step.ts";
import { type CodexQuestion, codexQuestion } from "./codex-questions.ts";
import { codexRequest } from "./codex-requests.ts";
import { ACCOUNT_LIMITS, CodexTurns } from "./codex-turns.ts";
import { type RequestId, Rpc } from "./rpc.ts";

/** Opens the channel to Codex: its screen and this process are two clients of one `codex app-server`. */
export function openAppServerChannel(setup: ChannelSetup, events: ChannelEvents): Channel {
  return new AppServerChannel(setup, events);
}

/** Time limit in milliseconds for Codex to start. */
const START_MS = 60_000;
/** Time limit in milliseconds for Codex to add a text to its turn. */
const STEER_MS = 3_000;
/** Time limit in seconds for an MCP server to start; without the server, Codex does not start. */
const TOOLS_S = 50;

/** Codex asks for every edit, and for every command that it does not know to be read-only; a person decides, not a model. */
const ASK_ALWAYS = { approvalPolicy: "untrusted", approvalsReviewer: "user" } as const;

class AppServerChannel implements Channel {
  readonly #setup: ChannelSetup;
  readonly #events: ChannelEvents;
  readonly #rpc: Rpc;
  /** Requests without an answer. */
  readonly #open = new Map<RequestId, AbortController>();
  /** Requests that only a person can answer. */
  readonly #dialogs = new Set<RequestId>();
  #place: SocketDirectory | undefined;
  #server: PipedProgram | undefined;
  #screen: ScreenProgram | undefined;
  #turns: CodexTurns | undefined;
  #thread = "";
  #delivery: Promise<Readonly<Record<string, unknown>>> | undefined;
  readonly #ending = new AbortController();
  #ended: Promise<void> | undefined;
  /** Resolves once the end of the connection is reported. */
  #closing: Promise<void> | undefined;

  constructor(setup: ChannelSetup, events: ChannelEvents) {
    this.#setup = setup;
    this.#events = events;
    this.#rpc = new Rpc({
      notified: (method, params) => this.#onNotice(method, params),
      asked: (id, method, params) => void this.#onRequest(id, method, params),
      closed: (why) => this.#onClosed(why),
    });
  }

  get #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  async start(conversation: string | undefined): Promise<string | undefined> {
    const { adapter, cwd, env, servers, sandbox } = this.#setup;
    if (sandbox !== undefined) {
      throw new TeamError("SPAWN_FAILED", `${adapter.id} cannot run in a sandbox; it was not started.`, {
        hint: "Start it without --sandbox, or use --cli codex-acp.",
      });
    }
    const file = requireProgram(adapter, env);
    const place = createSocketDirectory();
    this.#place = place;
    const options = { cwd, env: { ...env, ...adapter.env } };
    const listen = ["app-server", ...servers.flatMap(serverArgs), "--listen", `unix://${place.path}`];
    const server = startPiped(file, [...adapter.args, ...listen], options);
    this.#server = server;
    server.stdout.resume();
    try {
      const { ended } = server;
      await startStep(ended, START_MS, (signal) => this.#connect(place.path, signal));
      await whenLoggedIn(adapter, this.#events, this.#ending.signal, () =>
        startStep(ended, START_MS, () => this.#requireLogin()),
      );
      await startStep(ended, START_MS, () => this.#openThread(conversation));
    } catch (error) {
      const words = lastWords(server);
      await this.end();
      if (error instanceof TeamError) throw error;
      throw notStarted(adapter, `${messageOf(error)}${words}`, { cause: error });
    }
    void server.ended.then((how) => this.#onEnded(`${how}${lastWords(server)}`));
    // A person quits Codex in its screen. The screen also ends when its server does.
    const resume = ["resume", this.#thread, "--remote", `unix://${place.path}`];
    const screen = startOnScreen(file, [...adapter.args, ...resume], options);
    this.#screen = screen;
    void screen.ended.then(async ({ how, isDeliberate }) => {
      await waitForEnd(server.ended, this.#ending.signal);
      this.#onEnded(isDeliberate ? undefined : how);
    });
    await awaitTools(this.#setup, this.#events, { timeouts: SCREEN_TIMEOUTS, signal: this.#ending.signal });
    return this.#thread;
  }

  async #connect(path: string, signal: AbortSignal): Promise<void> {
    await this.#rpc.connect(path, signal);
    await this.#rpc.request("initialize", { clientInfo: { name: "teams", title: "teams", version: "1" } });
    this.#rpc.notify("initialized");
  }

  /** Checks the login, which Codex reads again for each request. @throws LoginMissing */
  async #requireLogin(): Promise<void> {
    const { account, requiresOpenaiAuth } = await this.#rpc.request("account/read", {});
    if (requiresOpenaiAuth === true && (account ?? undefined) === undefined)
      throw new LoginMissing("it has no account");
  }

  async #openThread(conversation: string | undefined): Promise<void> {
    const resumed = conversation === undefined ? undefined : await this.#resume(conversation);
    this.#turns = new CodexTurns(this.#events, resumed === undefined);
    this.#thread = resumed ?? (await this.#newThread());
  }

  async #resume(threadId: string): Promise<string | undefined> {
    try {
      await this.#rpc.request("thread/resume", { threadId, excludeTurns: true, ...this.#choices() });
      return threadId;
    } catch (error) {
      const { id } = this.#setup.adapter;
      this.#events.note(
        `${id} could not resume its earlier conversation, so it starts a new one: ${messageOf(error)}`,
      );
      return undefined;
    }
  }

  async #newThread(): Promise<string> {
    const { thread } = await this.#rpc.request("thread/start", this.#choices());
    const { id } = fieldsOf(thread);
    if (typeof id !== "string" || id === "") throw new Error("it returned no thread id");
    // Its screen cannot open an empty thread.
    const content = [{ type: "input_text", text: "This session is a member of a team of agents." }];
    await this.#rpc.request("thread/inject_items", {
      threadId: id,
      items: [{ type: "message", role: "developer", content }],
    });
    return id;
  }

  #choices(): Readonly<Record<string, unknown>> {
    const { cwd, model } = this.#setup;
    // A sandbox of Codex could still block an approved command. Our rules decide, as for agents without a sandbox.
    const sandbox = "danger-full-access";
    return { cwd, sandbox, ...ASK_ALWAYS, ...(model === undefined ? {} : { model }) };
  }

  async deliver(text: string): Promise<void> {
    if (this.#isEnding) throw new Error("it is not running");
    const { effort } = this.#setup;
    // During a person's turn, Codex adds the text to that turn.
    this.#delivery = this.#rpc.request("turn/start", {
      threadId: this.#thread,
      input: [{ type: "text", text, text_elements: [] }],
      ...ASK_ALWAYS,
      ...(effort === undefined ? {} : { effort }),
    });
    const { turn } = await this.#delivery.catch(async (error: unknown) => {
      await this.#closing;
      throw error;
    });
    this.#turns?.accepted(fieldsOf(turn).id);
  }

  async interrupt(): Promise<void> {
    // A turn has no id before Codex has accepted it; a refusal is an error of deliver.
    await this.#delivery?.catch(() => undefined);
    const turnId = this.#turns?.current;
    if (turnId !== undefined) await this.#rpc.request("turn/interrupt", { threadId: this.#thread, turnId });
  }

  end(): Promise<void> {
    this.#ending.abort();
    this.#ended ??= this.#endAll();
    return this.#ended;
  }

  async #endAll(): Promise<void> {
    this.#closeRequests();
    this.#rpc.close();
    try {
      // The screen first: it restores the terminal.
      await this.#screen?.end();
    } finally {
      await this.#server?.end();
      this.#place?.remove();
    }
  }

  #onEnded(reason: string | undefined): void {
    if (this.#isEnding) return;
    this.end().catch((error: unknown) => this.#events.note(messageOf(error)));
    this.#events.ended(reason);
  }

  #onClosed(why: string): void {
    const server = this.#server;
    if (this.#isEnding || this.#screen === undefined || server === undefined) return;
    this.#closing = waitForEnd(server.ended, this.#ending.signal).then(() => this.#onEnded(why));
  }

  #onNotice(method: string, params: Readonly<Record<string, unknown>>): void {
    // Helpers of Codex, as for titles, have threads of their own. A report on the account's limits names no thread.
    if ((params.threadId !== this.#thread && method !== ACCOUNT_LIMITS) || this.#isEnding) return;
    if (method === "serverRequest/resolved") this.#onResolved(params.requestId);
    if (method === "turn/completed") this.#closeRequests();
    this.#turns?.notified(method, params);
  }

  #onResolved(id: unknown): void {
    if (typeof id !== "number" && typeof id !== "string") return;
    this.#open.get(id)?.abort(new Error("It was answered in the screen of the CLI."));
    this.#open.delete(id);
    if (this.#dialogs.delete(id) && this.#dialogs.size === 0) this.#events.blocked(undefined);
  }

  #closeRequests(): void {
    for (const id of [...this.#open.keys(), ...this.#dialogs]) this.#onResolved(id);
  }

  async #onRequest(id: RequestId, method: string, params: Readonly<Record<string, unknown>>): Promise<void> {
    const turns = this.#turns;
    if (params.threadId !== this.#thread || turns === undefined || this.#isEnding) return;
    const asked = codexRequest(method, params, turns.item(params.itemId), this.#setup.cwd);
    if (asked === undefined) {
      if (!ONLY_PERSONS.has(method)) return;
      const question = codexQuestion(method, params);
      if (question !== undefined) return this.#onQuestion(id, question);
      this.#dialogs.add(id);
      this.#events.blocked({ name: "Codex has a question", remedy: "answer it in its pane" });
      return;
    }
    const closed = new AbortController();
    this.#open.set(id, closed);
    const request = { id: `${String(params.itemId ?? "request")}-${id}`, ...asked.request };
    const { allowed, note }: ChannelAnswer = asked.isOwn
      ? { allowed: true }
      : await this.#events.ask(request, closed.signal);
    if (!allowed && note !== undefined && !closed.signal.aborted)
      await this.#explain(refusalText([refusalLine(request.tool, request.summary, note)]));
    if (closed.signal.aborted || this.#isEnding) return;
    this.#open.delete(id);
    this.#rpc.answer(id, asked.answer(allowed));
  }

  /** Adds a text to the running turn: this protocol has no reason for a refusal, and the model reads both at the same time. */
  async #explain(text: string): Promise<void> {
    const expectedTurnId = this.#turns?.current;
    if (expectedTurnId === undefined) return;
    const input = [{ type: "text", text, text_elements: [] }];
    try {
      const added = this.#rpc.request("turn/steer", { threadId: this.#thread, expectedTurnId, input });
      if (!(await isDoneWithin(STEER_MS, added, this.#ending.signal))) throw new Error("no answer in time");
    } catch (error) {
      this.#events.note(`the reason for a refusal did not reach its model: ${messageOf(error)}`);
    }
  }

  async #onQuestion(id: RequestId, { fields, answer }: CodexQuestion): Promise<void> {
    const closed = new AbortController();
    this.#open.set(id, closed);
    const values = await askFields(fields, (question) => this.#events.question(question, closed.signal));
    if (closed.signal.aborted || this.#isEnding) return;
    this.#open.delete(id);
    this.#rpc.answer(id, answer(values));
  }
}

/** Questions that the screen shows as a dialog, and that our rules cannot answer. */
const ONLY_PERSONS: ReadonlySet<string> = new Set([
  "item/tool/requestUserInput",
  "mcpServer/elicitation/request",
]);

/** Returns the options that add an MCP server for this start; JSON strings are also valid TOML strings. */
function serverArgs({ name, command, args, env }: ToolServer): string[] {
  const fields = {
    command: JSON.stringify(command),
    args: JSON.stringify(args),
    env: `{${Object.entries(env).map(([key, value]) => `${JSON.stringify(key)}=${JSON.stringify(value)}`)}}`,
    default_tools_approval_mode: '"approve"',
    // Without it, 0.171.0 begins a turn without the tools of a server that starts late.
    required: "true",
    startup_timeout_sec: `${TOOLS_S}`,
  };
  return Object.entries(fields).flatMap(([key, value]) => ["-c", `mcp_servers.${name}.${key}=${value}`]);
}
