"""The literature that the scores cite, each work once."""

AHMADIAN_2025 = (
    "Ahmadian, Ghatee, Wahlström (2025), Int. J. Approx. Reasoning, doi:10.1016/j.ijar.2025.109421"
)
BRIER_1950 = "Brier (1950), Mon. Weather Rev. 78, doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2"
COHEN_1968 = "Cohen (1968), Psychol. Bull. 70, doi:10.1037/h0026256"
DIMITRIADIS_2021 = "Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118"
EHM_2016 = "Ehm, Gneiting, Jordan, Krüger (2016), J. R. Stat. Soc. B 78, doi:10.1111/rssb.12154"
EPSTEIN_1969 = "Epstein (1969), J. Appl. Meteor. 8, doi:10.1175/1520-0450(1969)008<0985:ASSFPF>2.0.CO;2"
FLORES_2025 = "Flores, Schiff, Smith, Fukuyama, Wilson (2025), doi:10.48550/arXiv.2504.04528"
GALDRAN_2023 = "Galdran (2023), MICCAI, doi:10.48550/arXiv.2309.08701"
GNEITING_RAFTERY_2007 = "Gneiting, Raftery (2007), J. Am. Stat. Assoc. 102, doi:10.1198/016214506000001437"
GOOD_1952 = "Good (1952), J. R. Stat. Soc. B 14, doi:10.1111/j.2517-6161.1952.tb00104.x"
HAND_2009 = "Hand (2009), Mach. Learn. 77, doi:10.1007/s10994-009-5119-5"
HANLEY_MCNEIL_1982 = "Hanley, McNeil (1982), Radiology 143, doi:10.1148/radiology.143.1.7063747"
NELSON_2017 = "Nelson (2017), Entropy 19, doi:10.3390/e19060286"
SOKOLOVA_2009 = "Sokolova, Lapalme (2009), Inf. Process. Manag. 45, doi:10.1016/j.ipm.2009.03.002"
VICKERS_ELKIN_2006 = "Vickers, Elkin (2006), Med. Decis. Making 26, doi:10.1177/0272989X06295361"
