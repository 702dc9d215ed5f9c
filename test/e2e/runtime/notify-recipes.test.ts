import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { eventually } from "../../support/timing/eventually.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";

const DOCS = readFileSync(join(import.meta.dirname, "../../../docs/approvals.md"), "utf8");

type Json = Readonly<Record<string, unknown>>;
interface Request {
  readonly path: string;
  readonly body: Json;
  readonly response: ServerResponse;
}

/** Starts a server on loopback; `answer` gets each request, and writes the response. */
async function server(answer: (request: Request) => void): Promise<string> {
  const listener = createServer((request: IncomingMessage, response) => {
    let text = "";
    request.on("data", (bytes: Buffer) => {
      text += bytes.toString("utf8");
    });
    request.on("end", () =>
      answer({ path: request.url ?? "", body: text === "" ? {} : (JSON.parse(text) as Json), response }),
    );
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    listener.closeAllConnections();
    listener.close();
  });
  return `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
}

const bash = (command: string) => ({ name: "Bash", input: { command } });

const ask = (input: Json) => ({ tools: [{ name: "AskUserQuestion", input }] });
/** Two long questions: a cut at any place splits an emoji in one of them, whatever the text before them. */
const LONG = ["", "a"].map((start) => start + "😀".repeat(3_000));

/** Expects no lone surrogate, which Telegram's server refuses. */
function expectWhole(messages: readonly Json[]): void {
  expect(JSON.stringify(messages)).not.toMatch(/\\ud[89a-f]/);
}

/** Starts a teammate that asks for two commands and answers to questions, with a recipe of the docs as its notifier. */
async function asking(recipe: "ntfy" | "telegram", env: Record<string, string>) {
  const t = privateTmux({ env });
  const teams = teamsIn(t.env, t.home);
  const [, code = ""] = new RegExp(`\`\`\`js\n(// ${recipe}.mjs[\\s\\S]*?)\`\`\``).exec(DOCS) ?? [];
  const file = join(t.home, `${recipe}.mjs`);
  writeFileSync(file, code);
  writeFileSync(
    join(t.root, "settings.json"),
    JSON.stringify({ teams: { notify: { program: [process.execPath, file] } } }),
  );
  const question = { question: "Which port?", choices: ["80", "8080"] };
  const turns = [
    { tools: [bash("touch first")] },
    { tools: [bash("touch second")] },
    ask(question),
    ask({ question: "Which host?", default: "localhost" }),
    ...LONG.map((text) => ask({ question: text })),
    { say: "Done." },
  ];
  writeFileSync(join(t.home, "ask.json"), JSON.stringify({ version: 1, agents: { dev: turns } }));
  await teams(["create", "crew"]);
  const spawn = ["spawn", "dev", "--prompt", "go", "--model", "scripted:ask.json"];
  expect((await teams([...spawn, "--teammate-mode", "process"])).code).toBe(0);
  onTestFinished(async () => void (await teams(["kill", "crew", "--force", "--team", "crew"])));
  return {
    made: (name: string) => existsSync(join(t.home, name)),
    allAnswered: () =>
      eventually("the last answer", async () => {
        const { approvals } = (await teams(["approvals", "--json"])).json<{ approvals: object[] }>();
        return approvals.length === 0;
      }),
    inbox: async () => (await teams(["inbox", "dev", "--all", "--json"])).out,
  };
}

describe("the recipes of docs/approvals.md", () => {
  it("ntfy › shows requests with buttons, and a pressed button answers", async () => {
    const published: Json[] = [];
    const listeners: ServerResponse[] = [];
    const url = await server(({ path, body, response }) => {
      if (path === "/top-answers/json") {
        response.writeHead(200);
        response.write('{"event":"open"}\n');
        listeners.push(response);
        return;
      }
      published.push(body);
      response.end("{}");
    });
    const team = await asking("ntfy", { NTFY_URL: url, NTFY_TOPIC: "top" });
    const shown = (count: number) =>
      eventually(`${count} notifications`, () => listeners.length > 0 && published[count - 1]);
    const press = (message: Json, label: string): void => {
      const actions = message.actions as { label: string; url: string; body: string }[];
      const action = actions.find((one) => one.label === label);
      expect(action?.url).toBe(`${url}/top-answers`);
      listeners.at(-1)?.write(`${JSON.stringify({ event: "message", message: action?.body })}\n`);
    };
    const first = await shown(1);
    expect(first).toMatchObject({ topic: "top", message: expect.stringContaining("touch first") });
    press(first, "Yes");
    const second = await shown(2);
    expect(second.message).toContain("touch second");
    press(second, "No");
    const third = await shown(3);
    expect(third.message).toContain("Which port?");
    press(third, "8080");
    const fourth = await shown(4);
    expect(fourth.message).toMatch(/Which host\?.*localhost/s);
    press(fourth, "Yes");
    press(await shown(5), "No");
    press(await shown(6), "No");
    await team.allAnswered();
    expectWhole(published);
    expect([team.made("first"), team.made("second")]).toEqual([true, false]);
    const inbox = await team.inbox();
    for (const text of ["8080", "localhost"]) expect(inbox).toContain(text);
  });

  it("Telegram › shows requests with buttons, and ignores another chat", async () => {
    const sent: Json[] = [];
    const updates: Json[] = [];
    const waiting: ServerResponse[] = [];
    const reply = (response: ServerResponse, result: unknown): void =>
      void response.end(JSON.stringify({ ok: true, result }));
    const flush = (): void => {
      const response = updates.length > 0 ? waiting.shift() : undefined;
      if (response !== undefined) reply(response, updates.splice(0));
    };
    const url = await server(({ path, body, response }) => {
      if (path === "/bot1:t/getUpdates") {
        waiting.push(response);
        flush();
      } else if (path === "/bot1:t/sendMessage") {
        sent.push(body);
        reply(response, { message_id: sent.length });
      } else reply(response, true);
    });
    const env = { TELEGRAM_URL: url, TELEGRAM_TOKEN: "1:t", TELEGRAM_CHAT: "7" };
    const team = await asking("telegram", env);
    const shown = (count: number) => eventually(`${count} messages`, () => sent[count - 1]);
    let id = 0;
    const update = (content: Json): void => {
      id += 1;
      updates.push({ update_id: id, ...content });
      flush();
    };
    const press = (message: Json, label: string, chat = 7): void => {
      const { inline_keyboard: rows } = message.reply_markup as { inline_keyboard: Json[][] };
      const button = rows.flat().find((one) => one.text === label);
      expect(String(button?.callback_data).length).toBeLessThanOrEqual(64);
      update({ callback_query: { id: "q", data: button?.callback_data, message: { chat: { id: chat } } } });
    };
    const first = await shown(1);
    expect(first).toMatchObject({ chat_id: "7", text: expect.stringContaining("touch first") });
    press(first, "No", 8);
    press(first, "Yes");
    const second = await shown(2);
    expect(team.made("first")).toBe(true);
    update({ message: { chat: { id: 7 }, text: "not now", reply_to_message: { message_id: 2 } } });
    const third = await shown(3);
    expect(second.text).toContain("touch second");
    press(third, "8080");
    const fourth = await shown(4);
    expect(fourth.text).toMatch(/Which host\?.*localhost/s);
    press(fourth, "Yes");
    press(await shown(5), "No");
    press(await shown(6), "No");
    await team.allAnswered();
    expectWhole(sent);
    expect(team.made("second")).toBe(false);
    const inbox = await team.inbox();
    for (const text of ["not now", "8080", "localhost"]) expect(inbox).toContain(text);
  });
});
