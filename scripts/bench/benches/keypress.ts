import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { atMost, type Bench, type Figure, type Place, type Setup } from "../figure.ts";
import { type AttachedClient, attachClient, canAttach } from "../support/attached-client.ts";
import { endServer, tmuxOf } from "../support/lead.ts";
import { Samples } from "../support/samples.ts";
import { benchTeam } from "../support/scratch.ts";
import { tokenStream } from "../support/token-stream.ts";

const SIZE = { columns: 120, rows: 40 };
const TOKENS_A_SECOND = 200;
const MAX_MS = 30;
/** No other text in the pane contains these letters, and each letter is typed only once into a line. */
const LETTERS = "αβγδεζηθικλμνξοπρστυφχψω";
/** Ctrl-U: erases the line. */
const ERASE = "\x15";

/** Texts of a model: one with blocks that end, and two with a block that does not. */
const TEXTS = {
  Markdown: `## how it works\n\nthe parser reads **one line** at a time, and \`next()\` returns its tokens in order.\n
- a list of several words, some of them *emphasised*
- and a second entry with a [link](https://example.com)\n
| name | size |\n|---|---|\n| parser | 12 kb |\n| reader | 3 kb |\n
\`\`\`ts\nexport function next(line: string): string[] {\n  return line.split(" ");\n}\n\`\`\`\n\n`,
  "one long listing": `\`\`\`ts\n${"const parsed = [...next(line)]; // one of many\n".repeat(20)}`,
  "one long paragraph": "word after word without an end, and ",
};

/** The time until the terminal of a client shows a key that was pressed in it, while the agent of the pane streams. */
export const keypress: Bench = {
  name: "keypress",
  title: `A pressed key while ${TOKENS_A_SECOND} tokens a second arrive`,
  short: true,
  async run(setup) {
    const [place] = setup.places;
    if (place === undefined || !canAttach()) return [];
    const figures: Figure[] = [];
    const texts = Object.entries(TEXTS).slice(0, setup.amount(Number.POSITIVE_INFINITY, 1));
    for (const [name, text] of texts) figures.push(...(await typed(setup, place, name, text)));
    return figures;
  },
};

async function typed(setup: Setup, place: Place, name: string, text: string): Promise<readonly Figure[]> {
  const team = await benchTeam(place, []);
  const server = await tokenStream(text, TOKENS_A_SECOND);
  const model = [`ANTHROPIC_BASE_URL=${server.url}`, "ANTHROPIC_API_KEY=bench"];
  const run = ["run", "--team", "typed", "--model", "sonnet", "--no-sidebar", "begin"];
  const words = ["env", ...model, process.execPath, join(setup.dist, "teams.cjs"), ...run];
  const size = ["-x", `${SIZE.columns}`, "-y", `${SIZE.rows}`];
  tmuxOf(team, "new-session", "-d", "-s", "bench", ...size, "--", ...words, ";", "set", "status", "off");
  tmuxOf(team, "new-session", "-d", "-s", "bare", ...size, "--", "env", "cat", ";", "set", "status", "off");
  const client = attachClient(team, "bench", SIZE);
  const bare = attachClient(team, "bare", SIZE);
  try {
    await untilStreaming(() => server.sent);
    const keys = setup.amount(240, 24);
    const [before, since] = [server.sent, performance.now()];
    const samples = await press(client, keys);
    const rate = ((server.sent - before) * 1000) / (performance.now() - since);
    const least = await press(bare, keys);
    const figure = (what: string, share: number): Figure => ({
      what: `${what}, ${name}`,
      value: samples.at(share),
      unit: "ms",
      references: [{ what: "a pane that only echoes", value: least.at(share) }],
      goal: atMost(MAX_MS, "ms", samples.at(share)),
    });
    return [
      figure("a key → drawn, p50", 0.5),
      figure("the same, p95", 0.95),
      figure(`the slowest of ${keys}`, 1),
      { what: `tokens streamed meanwhile, ${name}`, value: rate, unit: "/s" },
    ];
  } finally {
    await client.end();
    await bare.end();
    endServer(team);
    server.close();
  }
}

/** Types letters at uneven intervals, so that they do not keep step with the drawing. */
async function press(client: AttachedClient, keys: number): Promise<Samples> {
  const took: number[] = [];
  for (let key = 0; key < keys; key += 1) {
    const at = key % LETTERS.length;
    if (at === 0) client.write(ERASE);
    await delay(30 + ((key * 37) % 50));
    const drawn = client.draws(LETTERS.charAt(at));
    client.write(LETTERS.charAt(at));
    took.push(await drawn);
  }
  return new Samples(took);
}

async function untilStreaming(sent: () => number): Promise<void> {
  const deadline = performance.now() + 180_000;
  // Wait for two seconds of tokens, so that the start of the program is not measured.
  while (sent() < 2 * TOKENS_A_SECOND) {
    if (performance.now() > deadline) throw new Error("The agent did not stream within three minutes.");
    await delay(50);
  }
}
