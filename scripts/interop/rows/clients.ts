import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { type Client, clientOf } from "../clients.ts";
import type { Crew } from "../team/crew.ts";
import { writeDiagnosis } from "../team/diagnosis.ts";
import { type Bench, check, type Row } from "./row.ts";

/** The programs as MCP clients that a person has configured: they are not members that teams started. */
export const CLIENTS: readonly Row[] = [
  {
    id: "mcp-tools",
    text: "`teams mcp`: the program offers its model every tool of a member, and of the lead as the lead",
    limit: 240_000,
    run: (bench) =>
      withClient(bench, "mcp-tools", async (crew, client) => {
        for (const [member, tools] of [
          ["joe", FOR_ALL],
          ["team-lead", [...FOR_ALL, ...FOR_LEAD]],
        ] as const) {
          const join = member === "joe" ? ["--join"] : [];
          const words = ["--config", client.name, "--team", "crew", "--as", member, ...join];
          client.configure(crew, await crew.ok("mcp", ...words));
          await checkOffered(crew, client, tools);
        }
        return client.remark;
      }),
  },
  {
    id: "client",
    text: "`teams mcp --config`: configured with it, the program uses the team's tools as a member",
    limit: 240_000,
    run: (bench) =>
      withClient(bench, "client", async (crew, client) => {
        const words = ["--config", client.name, "--team", "crew", "--as", "joe", "--join"];
        client.configure(crew, await crew.ok("mcp", ...words));
        return await useTools(crew, client);
      }),
  },
  {
    id: "http",
    text: "`teams mcp --http`: the program uses the tools with the token; a request without it is refused",
    limit: 240_000,
    run: (bench) =>
      withClient(bench, "http", async (crew, client) => {
        const words = [
          crew.teamsProgram,
          "mcp",
          "--http",
          "0",
          "--team",
          "crew",
          "--as",
          "joe",
          "--join",
          "--json",
        ];
        const server = spawn(process.execPath, words, {
          env: crew.env,
          cwd: crew.repo,
          stdio: ["ignore", "pipe", "inherit"],
        });
        try {
          const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
          const { url, tokenFile } = JSON.parse(line) as { url: string; tokenFile: string };
          const bare = await fetch(url, { method: "POST", body: "{}" });
          check(bare.status === 401, "a request without the token is answered", bare.status);
          client.configure(crew, client.http(url, readFileSync(tokenFile, "utf8").trim()));
          return await useTools(crew, client);
        } finally {
          server.kill("SIGTERM");
        }
      }),
  },
];

const FOR_ALL = [
  ...["SendMessage", "TaskCreate", "TaskGet", "TaskUpdate", "TaskList", "TaskClaim"],
  ...["AskUserQuestion", "TeamStatus", "Wait", "ReadMessages"],
];
const FOR_LEAD = ["Agent", "TeamCreate", "TeamDelete", "ListRequests", "AnswerRequest"];

/** Lets the model list the tools that it is offered, until it has them: a program may begin before its server is ready. */
async function checkOffered(crew: Crew, client: Client, tools: readonly string[]): Promise<void> {
  for (let runs = 1; ; runs += 1) {
    const { argv, input } = client.command(`do-offered: ${tools.join(" ")}`);
    const { code, out, err } = await crew.run(argv, { input: input ?? "", limit: 150_000 });
    const printed = `${err}\n${out}`.slice(-2_000);
    check(code === 0, "the program failed", printed);
    const offered = /offered ([\w ]*)\./.exec(printed)?.[1]?.split(" ") ?? [];
    const missing = tools.filter((name) => !offered.includes(name));
    if (missing.length === 0) return;
    check(runs < MAX_RUNS, `the model is not offered ${missing.join(" ")}`, printed);
  }
}

/** Creates a team in a separate home, where only the person's configuration names our server. */
async function withClient(
  { program, another }: Bench,
  id: string,
  work: (crew: Crew, client: Client) => Promise<unknown>,
): Promise<unknown> {
  const crew = await another(id);
  try {
    return await work(crew, clientOf(program));
  } catch (error) {
    await writeDiagnosis(crew, id, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    await crew.teams("kill", "crew", "--force").catch(() => undefined);
    crew.end();
  }
}

/** Maximum runs of the client: some programs begin a turn without the tools of a slow server. */
const MAX_RUNS = 3;

/** Lets the client use tools, until it has them. @returns a remark if its first run had none */
async function useTools(crew: Crew, client: Client): Promise<string | undefined> {
  for (let runs = 1; ; runs += 1) {
    const word = crew.word("client");
    const printed = await useOnce(crew, client, word);
    const { tasks } = await crew.json<{ tasks: { subject: string }[] }>("task", "list");
    if (tasks.some(({ subject }) => subject === `task of ${word}`)) {
      await checkSender(crew, `message of ${word}`);
      return runs === 1 ? client.remark : "a turn may begin before the server is ready, without its tools";
    }
    check(runs < MAX_RUNS && printed.includes("no tool "), `no task; it printed: ${printed}`);
  }
}

/** Lets the client create a task and send a message. @returns what it printed */
async function useOnce(crew: Crew, client: Client, word: string): Promise<string> {
  const task = { subject: `task of ${word}`, description: "d" };
  const message = { recipient: "team-lead", content: `message of ${word}`, summary: "s" };
  const script = [
    `do-tool: mcp:TaskCreate ${JSON.stringify(task)}`,
    `do-tool: mcp:SendMessage ${JSON.stringify(message)}`,
    `do-say: ${word} said`,
  ].join("\n");
  const { argv, input } = client.command(script);
  const { code, out, err } = await crew.run(argv, { input: input ?? "", limit: 150_000 });
  const printed = `${err}\n${out}`.slice(-600);
  check(code === 0, "the program failed", printed);
  return printed;
}

async function checkSender(crew: Crew, text: string): Promise<void> {
  const inbox = await crew.json<{ messages: { from: string; text: string }[] }>(
    "inbox",
    "team-lead",
    "--all",
  );
  const sent = inbox.messages.find((message) => message.text.includes(text));
  check(sent?.from === "joe", "the message is not joe's", sent ?? crew.lastResult());
}
