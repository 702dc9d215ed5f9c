import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectedDialog } from "../../../../src/adapter/inbox/claude-dialogs.ts";
import type { PermissionMode } from "../../../../src/schema/permission-modes.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const KEY = "sk-ant-0123456789abcdefghijklmnop";
const trusted = { hasCompletedOnboarding: true, projects: { "/srv": { hasTrustDialogAccepted: true } } };

test.each<[string, object | string, { key?: string; mode?: PermissionMode }, string | undefined]>([
  ["no dialog after all answers", trusted, {}, undefined],
  ["its first start", {}, {}, "its first-start dialog"],
  [
    "trust in the directory",
    { hasCompletedOnboarding: true, projects: { "/srv/repo": {} } },
    {},
    "the directory trust dialog",
  ],
  ["a key without an answer", trusted, { key: KEY }, "the API key dialog"],
  [
    "no dialog for a key with an answer",
    { ...trusted, customApiKeyResponses: { approved: [KEY.slice(-20)] } },
    { key: KEY },
    undefined,
  ],
  ["the bypass of permissions", trusted, { mode: "bypassPermissions" }, "the bypass permissions dialog"],
  ["no dialog in the middle of a write", '{"hasComp', {}, undefined],
])("dialogs of claude › expects %s", (_what, memory, { key, mode = "default" }, expected) => {
  const directory = temporaryDirectory();
  const text = typeof memory === "string" ? memory : JSON.stringify(memory);
  writeFileSync(join(directory, ".claude.json"), text);
  const env = { CLAUDE_CONFIG_DIR: directory, ANTHROPIC_API_KEY: key };
  expect(expectedDialog(env, "/srv/repo", mode)?.name).toBe(expected);
});

test("dialogs of claude › expects no dialog without claude's file", () => {
  expect(expectedDialog({ HOME: temporaryDirectory() }, "/srv/repo", "default")).toBeUndefined();
});
