"""Specs and the code that they need, good and bad, once and again."""

import hashlib

from daemon import AGENT, USER, spec
from openapi.described import Described

NO_FILES = bytes.fromhex("28b52ffd" "60" "0003" "032000" "00")  # zstd of 1,024 times 0: a tar archive of nothing


class Submissions(Described):
    def test_1c_code_comes_before_the_spec_that_needs_it(self):
        packed = NO_FILES
        text = spec("code") + "code: {folder: src}\n"
        refused = self.submit(text, 422).json()["errors"][0]
        self.assertIn("packed by \"podium submit\"", refused["message"])
        body = {"spec": text, "file": "test.yaml", "code": "0" * 64}
        self.assertIn("submit it from its folder again", self.call("POST", "/experiments", 422, body, USER).json()["detail"])
        self.call("POST", "/code", 415, packed, USER, Content_Type="text/plain")
        self.call("POST", "/code", 422, b"no archive", USER, Content_Type="application/zstd")
        for path in ("/dev/zero", "../podium.db", "."):
            self.call("POST", "/experiments", 400, body | {"code": path}, USER)
        self.call("POST", "/code", 401, packed, Content_Type="application/zstd")
        posted = self.call("POST", "/code", 201, packed, USER, Content_Type="application/zstd").json()
        self.assertEqual(posted, {"sha256": hashlib.sha256(packed).hexdigest(), "bytes": len(packed)})
        at = "/code/" + posted["sha256"]
        self.assertEqual(self.call("GET", "/code/{sha256}", path=at, token=AGENT).body, packed)
        self.call("GET", "/code/{sha256}", 404, path="/code/nothing")
        self.call("POST", "/nodes/{node}/drain", 200, {}, USER, "/nodes/node-1/drain")  # the job waits
        job = self.call("POST", "/experiments", 201, {**body, "code": posted["sha256"]}, USER).json()["jobs"][0]["id"]
        kept = self.call("GET", "/jobs/{job}", path=f"/jobs/{job}").json()["spec"]["code"]
        self.assertEqual(kept, {"folder": "src", "snapshot": posted["sha256"]})
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")
        file = self.daemon.home / "code" / posted["sha256"]
        file.rename(self.daemon.home / "elsewhere")
        gone = self.call("POST", "/jobs/{job}/requeue", 409, token=USER, path=f"/jobs/{job}/requeue").json()
        self.assertIn(f"the code of job {job} is no longer kept", gone["detail"])
        (self.daemon.home / "elsewhere").rename(file)
        self.call("POST", "/nodes/{node}/resume", 200, {}, USER, "/nodes/node-1/resume")

    def test_1d_code_of_git_comes_with_its_commit(self):
        text = spec("code") + "code: {git: v1.2}\n"
        errors = self.submit(text, 422).json()["errors"]
        self.assertEqual([(e["where"], e["pointer"]) for e in errors], [("test.yaml:6:13", "/code/git")])
        self.assertIn("submit it with that", errors[0]["message"])
        sha256 = self.call("POST", "/code", 201, NO_FILES, USER, Content_Type="application/zstd").json()["sha256"]
        body = {"spec": text, "file": "test.yaml", "code": sha256}
        self.call("POST", "/experiments", 422, body, USER)
        self.call("POST", "/experiments", 400, body | {"code_commit": "v1.2"}, USER)
        job = self.call("POST", "/experiments", 201, body | {"code_commit": "c" * 40}, USER).json()["jobs"][0]["id"]
        kept = self.call("GET", "/jobs/{job}", path=f"/jobs/{job}").json()["spec"]["code"]
        self.assertEqual(kept, {"folder": ".", "git": "v1.2", "commit": "c" * 40, "snapshot": sha256})
        keyed = {"token": USER, "Idempotency_Key": "code-of-git"}
        first = self.call("POST", "/experiments", 201, body | {"code_commit": "c" * 40}, **keyed).json()
        again = self.call("POST", "/experiments", 200, body | {"code_commit": "c" * 40}, **keyed).json()
        self.assertEqual(again["experiment"], first["experiment"])
        for other in ({"code_commit": "d" * 40}, {"code_commit": "c" * 40, "code": "0" * 64}):
            refused = self.call("POST", "/experiments", 409, body | other, **keyed).json()
            self.assertIn("which has another code", refused["detail"])
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{first['jobs'][0]['id']}/cancel")
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{job}/cancel")

    def test_1e_several_specs_are_judged_at_once(self):
        wrong = spec("wrong", extra="lable: {}\nafter: [{job: 999999}]\n")
        specs = [{"spec": text, "file": f"{i}.yaml"} for i, text in enumerate((spec("good"), wrong, spec("big", 64)))]
        verdicts = self.call("POST", "/verdicts", 200, {"specs": specs}, USER).json()["verdicts"]
        self.assertEqual([verdict["valid"] for verdict in verdicts], [True, False, False])
        self.assertEqual([error["where"] for error in verdicts[1]["errors"]], ["1.yaml:6:1", "1.yaml:7:8"],
                         "what the scheduler has against it comes in the same round")
        self.assertIn("there is no job 999999", verdicts[1]["errors"][1]["message"])
        self.assertIn("asks for 64 cpu devices", verdicts[2]["errors"][0]["message"])
        both = self.submit(wrong, 422).json()["errors"]
        self.assertEqual([error["message"] for error in both], [error["message"] for error in verdicts[1]["errors"]])
        kind = spec("kind", 64).replace("kind: cpu", "kind: tpu")
        self.assertEqual(len(self.submit(kind, 422).json()["errors"]), 1, "of devices that are unknown nothing is said")
        for body in ({}, {"specs": []}, {"specs": [1]}, {"specs": specs, "more": 1}):
            self.call("POST", "/verdicts", 400, body, USER)
        self.call("POST", "/verdicts", 401, {"specs": specs})

    def test_3_submitting_again_with_the_same_key(self):
        first = self.submit(spec("keyed"), Idempotency_Key="k1").json()
        again = self.submit(spec("keyed"), 200, Idempotency_Key="k1").json()
        self.assertEqual(again["experiment"], first["experiment"])

    def test_4_bad_specs_are_refused_whole(self):
        before = self.daemon.get("/jobs").json()["total"]
        bad = spec("bad") + "lable: {}\npriority: high\n"
        problem = self.submit(bad, 422).json()
        self.assertGreaterEqual(len(problem["errors"]), 2)
        for error in problem["errors"]:
            self.assertRegex(error["where"], r"^test.yaml:\d+:\d+$")
        self.call("POST", "/validate", 422, {"spec": bad}, USER)
        too_large = self.submit(spec("huge", 1000), 422).json()
        self.assertIn("1000", too_large["errors"][0]["message"])
        self.call("POST", "/validate", 422, {"spec": spec("huge", 1000)}, USER)
        valid = self.call("POST", "/validate", 200, {"spec": spec("fine")}, USER).json()
        self.assertEqual(valid["normalised"]["name"], "fine")
        self.assertEqual(self.daemon.get("/jobs").json()["total"], before)

    def test_5b_one_key_makes_one_experiment_of_one_spec(self):
        first = self.submit(spec("keyed"), Idempotency_Key="one").json()
        self.assertEqual(self.submit(spec("keyed"), 200, Idempotency_Key="one").json()["experiment"], first["experiment"])
        other = self.submit(spec("other"), 409, Idempotency_Key="one").json()
        self.assertIn(f"was used for experiment {first['experiment']['id']}", other["detail"])
        self.call("POST", "/jobs/{job}/cancel", 202, token=USER, path=f"/jobs/{first['jobs'][0]['id']}/cancel")
