import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULTS_PATH, defaultsWithoutUpdate } from "../../../../src/adapter/files/qwen-defaults.ts";
import { temporaryDirectory } from "../../../support/files/temporary-directory.ts";

const defaultsFile = (): string => join(temporaryDirectory(), "system-defaults.json");

test.each([
  ["no defaults", undefined, { general: { enableAutoUpdate: false } }],
  [
    "defaults with comments",
    '{ "tools": 1, /* yes */ "general": { "vimMode": true, "enableAutoUpdate": true } }',
    { tools: 1, general: { vimMode: true, enableAutoUpdate: false } },
  ],
])("defaultsWithoutUpdate › turns Qwen's update off on a machine with %s", (_title, text, expected) => {
  const file = defaultsFile();
  if (text !== undefined) writeFileSync(file, text);
  expect(JSON.parse(defaultsWithoutUpdate({ [DEFAULTS_PATH]: file }) ?? "")).toEqual(expected);
});

test("defaultsWithoutUpdate › returns undefined if the defaults next to the machine's settings cannot be parsed", () => {
  const file = defaultsFile();
  writeFileSync(file, '{ "general": ');
  const settings = join(dirname(file), "settings.json");
  expect(defaultsWithoutUpdate({ QWEN_CODE_SYSTEM_SETTINGS_PATH: settings })).toBeUndefined();
});
