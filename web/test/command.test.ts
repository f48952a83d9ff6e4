import { expect, it } from "vitest";
import { commandLine, commandOf, isReplica } from "../src/model/command";

it("a spec with a command is no training", () => {
  expect(commandOf({ command: ["python3", "train.py"] })).toEqual(["python3", "train.py"]);
  expect(commandOf({ model: { family: "bert" } })).toBeNull();
  expect(commandOf(null)).toBeNull();
  expect([isReplica({ task: "serve" }), isReplica({ training: { task: "squad" } }), isReplica(null)]).toEqual(
    [true, false, false],
  );
});

it("a command reads as it would be typed", () => {
  expect(commandLine(["bash", "-c", "cd /x && echo 'hi'"])).toBe("bash -c 'cd /x && echo '\\''hi'\\'''");
});
