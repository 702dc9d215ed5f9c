import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../support/files/temporary-directory.ts";
import { cliIn } from "../../support/processes/in-process-cli.ts";

it("teams spawn › does not read a playbook in a directory that the lead's model may not choose", async () => {
  const elsewhere = temporaryDirectory();
  const file = join(elsewhere, "notes");
  writeFileSync(file, '{ "version": 1, "agents": { "private": 7 } }');
  const cli = cliIn();
  mkdirSync(join(cli.directory, "app"));
  await cli(["create", "crew"]);
  const spawn = (...words: string[]) =>
    cli(["spawn", "dev", ...words, "--teammate-mode", "process", "--json"], {
      env: { TEAMS_AGENT: "team-lead@crew" },
    });
  const message = async (...words: string[]): Promise<string> => (await spawn(...words)).error().message;
  expect(await message("--cwd", elsewhere, "--model", `scripted:${file}`)).toBe(
    `${elsewhere} is outside the lead's working directories; no teammate was started.`,
  );
  expect(await message("--cwd", elsewhere, "--model", "scripted:missing.json")).toContain(
    "is outside the lead",
  );
  expect(await message("--cwd", "app", "--model", `scripted:${file}`)).toContain("The playbook");
  expect(await message("--cwd", "app", "--model", "scripted:missing.json")).toContain("There is no playbook");
});
