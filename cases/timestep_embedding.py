"""Cases of timestep_embedding: even and odd sizes, one frequency, periods that matter, large and negative timesteps."""

from opproof.cases._rows.long import lengths

SMOKE = ["timesteps=7,;dim=32"]
STANDARD = [
    "timesteps=9,;dim=64;fill=offset-1e3",
    "timesteps=1,;dim=9",
    "timesteps=5,;dim=31;fill=wide",
    "timesteps=3,;dim=33;layout=sliced",
    "timesteps=4,;dim=2",
    "timesteps=4,;dim=3",
    "timesteps=6,;dim=64;max_period=100.0",
    "timesteps=6,;dim=63;max_period=1000.0;layout=offset",
    "timesteps=9,;dim=66;fill=offset;layout=gapped",
    "timesteps=9,;dim=16;fill=extreme;f32",
    "timesteps=97,;dim=127;fill=negative",
    "timesteps=9,;dim=128;fill=small",
    "timesteps=9,;dim=12;fill=zeros",
    "timesteps=9,;dim=12;fill=halves",
    "timesteps=5,;dim=7;layout=broadcast",
    "timesteps=0,;dim=8",
    "timesteps=33,;dim=320",
    "timesteps=3,;dim=1031;f32",
    "timesteps=1031,;dim=6",
    "timesteps=65,;dim=5",
    "timesteps=33,;dim=12;fill=special",
    "timesteps=33,;dim=4100;max_period=2.0;f16,bf16",
]
LAID = ["timesteps=1,;dim=6;layout=offset"]
LONG, LONGEST = lengths("timesteps=3,;dim={n}", "timesteps={n},;dim=4")
FULL = ["timesteps=2,;dim=12289", "timesteps=65537,;dim=4"]
WITHOUT = {"leading": "vectors have one axis"}
