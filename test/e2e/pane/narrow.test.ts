import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { teamsIn } from "../../support/processes/built-program.ts";
import { teammatePane } from "../../support/team/teammate-pane.ts";
import { privateTmux } from "../../support/tmux/private-tmux.ts";
import { personInside } from "../../support/tmux/terminal-user.ts";

it("a pane of 40×10 › names a file relative to the working directory, and so does status", async () => {
  const t = privateTmux();
  const file = join(t.home, "src/components/navigation/sidebar/entry.ts");
  const lead = [
    { tools: [{ name: "Write", input: { file_path: file, content: "one\n" } }] },
    { say: "Done." },
  ];
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: { "team-lead": lead } }));
  const mode = ["--permission-mode", "default", "--no-sidebar"];
  const words = ["run", "--once", "--team", "crew", "--playbook", "play.json", ...mode, "look"];
  const person = personInside(t, words, { size: { width: 40, height: 10 } });
  await person.sees(/▲ Allow this write\?\n +src\/components\/navigation\/sidebar\/\n +entry\.ts\n/);
  await person.sees("y yes · n no");
  const status = await teamsIn(t.env, t.home)(["status"]);
  expect(status.out).toContain("permission of team-lead: Write(src/components/navigation/sidebar/entry.ts)");
  person.type("y");
  expect(await person.code()).toBe(0);
  expect(person.screen()).toMatch(/● Write\(\S*…\/\S*entry\.ts\)/);
});

const PLAYBOOK = {
  version: 1,
  agents: {
    "team-lead": [
      {
        say: "# Plan\n\nI look, “first” of all:\n\n- one\n- zwölf\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        tools: [{ name: "Bash", input: { command: "seq 40; touch 'größe'" } }],
      },
      { tools: [{ name: "Bash", input: { command: "touch began; sleep 300" } }] },
    ],
    dev: [{ say: "Grüße — done." }],
  },
};

it.each([
  [40, 10],
  [120, 40],
])("a pane of %i×%i without UTF-8 or colours › shows only ASCII", async (width, height) => {
  const t = privateTmux();
  writeFileSync(join(t.home, "play.json"), JSON.stringify(PLAYBOOK));
  const mode = ["--permission-mode", "default", "--no-sidebar"];
  const words = ["run", "--playbook", "play.json", ...mode, "look around"];
  const env = { LC_ALL: "C", NO_COLOR: "1" };
  const person = personInside(t, words, { size: { width, height }, env });
  await person.sees(/y (yes|show all of it) - n no/);
  expect(person.screen()).toMatch(/^\| team-lead\n/);
  expect(person.screen()).toMatch(/^\* one\n\* zw\?lf$/m);
  // The command to approve is exact: escapes replace other characters, not question marks.
  expect(person.screen()).toMatch(/gr\\u00f6\\u00dfe/);
  if (person.screen().includes("show all of it")) {
    person.type("y");
    await person.sees("y yes - n no");
  }
  person.type("y");
  await person.sees(/` 1\n {4}2\n {4}3\n {4}> 34 more lines - ctrl\+o/);
  await person.sees(/touch began[\s\S]*y yes - n no/);
  person.type("y");
  await person.sees(/^\* Bash touch b.* - \d+ .* - Esc/m);
  person.type("a draft");
  await person.sees(/^> a draft$/m);
  person.type("C-u", "/sta");
  await person.sees(/^> \/status {6}show the members/m);
  person.type("C-u", "next line", "Enter");
  await person.sees(/^> next line {2}\(queued\)$/m);
  person.type("Escape");
  await person.sees("# interrupted");
  // The output with its styles contains no other character either.
  const drawn = t.tmux("capture-pane", "-p", "-e", "-S", "-200", "-t", person.pane);
  expect(drawn.replace(/\x1b\[0?1?m|\x1b\[22m|\x1b\(B/g, "")).toMatch(/^[\n\x20-\x7e]*$/);
  await person.endsRun();
  expect(await person.code()).toBe(130);
});

it("a teammate's pane without UTF-8 › shows only ASCII", async () => {
  const t = privateTmux({ env: { LC_ALL: "C" } });
  const { dev } = await teammatePane(t, PLAYBOOK);
  await dev.sees("Gr??e - done.");
  await dev.sees("o idle");
  expect(dev.screen()).toMatch(/^[\n\x20-\x7e]*$/);
});

it("a pane that is full › leaves no copy of its last rows in the history", async () => {
  const t = privateTmux();
  const content = Array.from({ length: 30 }, (_, i) => `line ${i + 1}\n`).join("");
  const lead = [{ tools: [{ name: "Write", input: { file_path: "a.txt", content } }] }, { say: "Done." }];
  writeFileSync(join(t.home, "play.json"), JSON.stringify({ version: 1, agents: { "team-lead": lead } }));
  const mode = ["--permission-mode", "default", "--no-sidebar"];
  const words = ["run", "--once", "--team", "crew", "--playbook", "play.json", ...mode, "look"];
  const person = personInside(t, words, { size: { width: 40, height: 10 } });
  await person.sees("y show all of it · n no");
  person.type("y");
  await person.sees("y yes · n no");
  expect(person.screen()).not.toContain("show all of it");
  person.type("y");
  expect(await person.code()).toBe(0);
  expect(person.screen()).not.toMatch(/y yes|^›$/m);
  expect(person.screen().match(/Allow this write\?/g)).toHaveLength(1);
});
