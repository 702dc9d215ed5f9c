import { expect, test } from "vitest";
import { processTable } from "../../../../src/os/process/process-table.ts";

test("processTable contains this process", () => {
  expect(processTable().find(({ pid }) => pid === process.pid)).toMatchObject({ ppid: process.ppid });
});
